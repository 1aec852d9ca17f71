#!/usr/bin/env node
"use strict";
// Installs the programs from a release, or the skill for agents. No dependencies; Node 18 or newer, and bun.

const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { SkillError, installSkill } = require("./skill.js");

const USAGE = `Installs delegate, or the skill that tells an agent how to use it.

  delegation-layer install-cli [--version V] [--install-dir DIR]
  delegation-layer install-skill --target DIR [--force]

install-cli
  --version V        Default: the version of this package, ${require("./package.json").version}. "latest" is allowed.
  --install-dir DIR  An absolute path. Default: ~/.local/bin.
install-skill
  --target DIR       An absolute path: the skill's own folder, which will hold SKILL.md.
  --force            Replace a SKILL.md that differs.

DELEGATE_RELEASE_URL names another place of releases; DELEGATE_REPLACE=1 replaces programs that are not the installer's.
Exit codes: 0 done, 1 not done, 2 the call was wrong.
`;

/** A call that can not be understood. */
class Misuse extends Error {}

/** Reads flags: those with a value by name, those without as `true`. */
function read(words, valued, plain) {
  const options = {};
  for (let rest = [...words]; rest.length > 0; ) {
    const [word, ...attached] = rest.shift().split("=");
    if (word in options) throw new Misuse(`${word} is given twice`);
    if (plain.includes(word) && attached.length === 0) {
      options[word] = true;
    } else if (valued.includes(word)) {
      const value = attached.length > 0 ? attached.join("=") : rest.shift();
      if (!value) throw new Misuse(`${word} needs a value`);
      options[word] = value;
    } else {
      throw new Misuse(`what is ${word}?`);
    }
  }
  return options;
}

function absolute(name, value) {
  if (!path.isAbsolute(value)) throw new Misuse(`${name} ${value} is no absolute path`);
  return value;
}

/** The installer of the release does the work; it can download with this very runtime where there is nothing else. */
function installCli(words) {
  const options = read(words, ["--version", "--install-dir"], []);
  const version = options["--version"] ?? require("./package.json").version;
  const call = [path.join(__dirname, "install.sh")];
  if (version !== "latest") call.push("--version", version);
  if (options["--install-dir"]) call.push("--install-dir", absolute("--install-dir", options["--install-dir"]));
  const environment = { ...process.env, DELEGATE_NODE: process.execPath };
  delete environment.DELEGATE_VERSION;
  const done = spawnSync("sh", call, { stdio: "inherit", env: environment });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

function main(words) {
  const [command, ...rest] = words;
  switch (command) {
    case "install-cli":
      return installCli(rest);
    case "install-skill": {
      const options = read(rest, ["--target"], ["--force"]);
      if (!options["--target"]) throw new Misuse("install-skill needs --target");
      const target = absolute("--target", options["--target"]);
      console.log(installSkill(path.join(__dirname, "SKILL.md"), target, options["--force"] === true));
      return 0;
    }
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(USAGE);
      return 0;
    default:
      throw new Misuse(command === undefined ? "a command is needed" : `what is ${command}?`);
  }
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (fault) {
  if (fault instanceof Misuse) {
    process.stderr.write(`delegation-layer: ${fault.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else if (fault instanceof SkillError || fault.code) {
    process.stderr.write(`delegation-layer: ${fault.message}\n`);
    process.exitCode = 1;
  } else {
    throw fault;
  }
}
