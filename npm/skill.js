"use strict";
// Puts the skill's file into a folder: whole or not at all, and never through a link.

const fs = require("node:fs");
const path = require("node:path");

const FILE = "SKILL.md";

/** Why the skill was not installed. */
class SkillError extends Error {}

/** What lies there, links not followed; `undefined` for nothing. */
function look(place) {
  return fs.lstatSync(place, { throwIfNoEntry: false });
}

/**
 * Installs the skill; returns a sentence about what was done.
 *
 * A folder or file that is a link is refused: somebody else decided where it leads. The same file again is no work; another
 * file is replaced only with `force`.
 */
function installSkill(source, target, force) {
  const content = fs.readFileSync(source);
  const folder = target.replace(/(?<=.)\/+$/, "");
  const file = path.join(folder, FILE);
  const before = look(folder);
  if (before?.isSymbolicLink()) throw new SkillError(`${folder} is a symbolic link`);
  if (before && !before.isDirectory()) throw new SkillError(`${folder} is no directory`);
  const present = look(file);
  if (present?.isSymbolicLink()) throw new SkillError(`${file} is a symbolic link`);
  if (present && !present.isFile()) throw new SkillError(`${file} is no regular file`);
  if (present && fs.readFileSync(file).equals(content)) return `${file} is up to date`;
  if (present && !force) throw new SkillError(`${file} differs; --force replaces it`);

  fs.mkdirSync(folder, { recursive: true });
  const partial = path.join(folder, `.${FILE}.${process.pid}`);
  try {
    const descriptor = fs.openSync(partial, "wx", 0o644);
    try {
      fs.writeFileSync(descriptor, content);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    // A link does not replace what came meanwhile; a rename does.
    if (present) fs.renameSync(partial, file);
    else fs.linkSync(partial, file);
  } finally {
    fs.rmSync(partial, { force: true });
  }
  return `${present ? "replaced" : "installed"} ${file}`;
}

module.exports = { SkillError, installSkill };
