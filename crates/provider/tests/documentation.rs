//! `docs/providers.md` says what the profiles do: its part on launches is made from their plans. With `DELEGATION_MATRIX=write` it is
//! written again (`cargo xtask matrix --write`).

mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use common::host::{FakeHost, continued, plan, request};
use provider::{Draft, Profile, catalogue};
use record::capability::Description;
use record::request::Request;
use record::words::{Fence, Permission, ProfileOption};

const BEGIN: &str = "<!-- launches: begin -->\n";
const END: &str = "<!-- launches: end -->\n";

fn host() -> FakeHost {
    let programs = catalogue().all().iter().filter_map(|profile| profile.description().runtime.executable);
    programs.fold(FakeHost::new(), |host, program| host.file(&format!("/opt/bin/{program}"), b"\x7fELF"))
}

/// The page's words for the places of the plan.
fn shown(text: &str) -> String {
    let text = text.replace("/home/u/work", "WORKSPACE").replace("/state/tasks/t/output", "TASK/output");
    text.replace("/home/u", "~").replace(CONVERSATION, "ID").replace(SESSION, "ID")
}

const CONVERSATION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";
const SESSION: &str = "ses_dd42ec05dffe";

fn argv(draft: &Draft) -> String {
    let quoted = |word: &String| if word.contains([' ', '"']) { format!("'{word}'") } else { word.clone() };
    let words: Vec<String> = draft.launch.argv.iter().map(quoted).collect();
    let text = words.join(" ");
    shown(
        &draft
            .launch
            .new_conversation
            .as_ref()
            .map_or(text.clone(), |new| text.replace(new.as_str(), "NEW-ID")),
    )
}

fn code(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

fn fences(asked: &Request) -> String {
    let default = plan(asked, &host()).unwrap().launch.effective_config.fence;
    let may = |fence: &Fence| plan(&Request { fence: Some(*fence), ..asked.clone() }, &host()).is_ok();
    let others = Fence::ALL.iter().copied().filter(|fence| *fence != default).filter(may);
    let mut text = format!("`{}`", default.as_str());
    others.for_each(|fence| write!(text, ", or `{}`", fence.as_str()).unwrap());
    text
}

/// The variables that pass to every program: the survey gets no others.
fn base_names() -> Vec<&'static str> {
    catalogue().get(&"offline:survey".parse().unwrap()).unwrap().environment_names()
}

/// A request in a mode; of a family runner in a lane that goes with it.
fn asked(description: &Description, mode: Permission) -> Request {
    let mut request = request(description.id.as_str(), mode);
    if description.supported_options.contains(&ProfileOption::Lane) {
        let only_reads = description.supported_modes == [Permission::ReadOnly];
        let lane = if only_reads || mode == Permission::WorkspaceWrite { "builder" } else { "scout" };
        request.requested_config.lane = Some(lane.to_owned());
    }
    request
}

fn section(profile: &dyn Profile) -> String {
    let description = profile.description();
    let id = description.id.as_str();
    let modes = &description.supported_modes;
    let requests: Vec<Request> = modes.iter().map(|mode| asked(&description, *mode)).collect();
    let drafts: Vec<Draft> = requests.iter().map(|asked| plan(asked, &host()).unwrap()).collect();
    let row = |title: &str, cell: &dyn Fn(usize) -> String| {
        let cells: String = (0..modes.len()).map(|index| format!(" {} |", cell(index))).collect();
        format!("| {title} |{cells}\n")
    };
    let mut text = format!("### `{id}`\n\n");
    text += &row("", &|index| format!("`{}`", modes[index].as_str()));
    text += &format!("|{}\n", "---|".repeat(modes.len() + 1));
    text += &row("fence", &|index| fences(&requests[index]));
    text += &row("may write", &|index| {
        let roots = &drafts[index].launch.effective_config.writable_roots;
        code(roots.iter().map(|root| shown(root.as_str())))
    });
    text += &row("its own approval mode", &|index| {
        format!("`{}`", drafts[index].launch.effective_config.approval)
    });
    let set = |draft: &Draft| {
        let new = |entry: &&String| {
            let name = entry.split('=').next().unwrap();
            !["BROWSER", "DELEGATION_COOKIE", "TMPDIR", "TMP", "TEMP"].contains(&name)
                && !host().variables.contains_key(name)
        };
        code(draft.launch.environment.iter().filter(new).cloned())
    };
    text += &row("variables that are set", &|index| set(&drafts[index]));

    let lines =
        modes.iter().zip(&drafts).map(|(mode, draft)| format!("# {}\n{}\n", mode.as_str(), argv(draft)));
    text += &format!("\n```text\n{}", lines.collect::<String>());
    let conversation = if id == "opencode:run" { SESSION } else { CONVERSATION };
    if let Ok(draft) = plan(&continued(requests[0].clone(), conversation), &host()) {
        text += &format!("# {}, continued\n{}\n", modes[0].as_str(), argv(&draft));
    }
    let mut asked = requests[0].clone();
    asked.requested_config.model = Some("MODEL".to_owned());
    asked.requested_config.effort = Some("high".to_owned());
    if let Ok(draft) = plan(&asked, &host()) {
        text += &format!("# {}, model and effort\n{}\n", modes[0].as_str(), argv(&draft));
    }
    if description.supported_options.contains(&ProfileOption::Lane) {
        let mut asked = requests[0].clone();
        asked.requested_config.effort = Some("high".to_owned());
        asked.requested_config.allow_provisional = true;
        let draft = plan(&asked, &host()).unwrap();
        text += &format!("# {}, effort and a provisional lane\n{}\n", modes[0].as_str(), argv(&draft));
    }
    text += "```\n\n";
    let options = description.supported_options.iter().map(|option| option.as_str().to_owned());
    text += &format!("- Options: {}.\n", code(options));
    let flags = description.runtime.required_flags.iter().cloned();
    text += &format!("- Its help must name {}.\n", code(flags));
    let own = profile.environment_names().into_iter().filter(|name| !base_names().contains(name));
    text += &format!("- More variables that pass, when they are set: {}.\n", code(own.map(str::to_owned)));
    let secrets = profile.secret_names().iter().map(|name| (*name).to_owned());
    text += &format!("- Names for `--env-file`: {}.\n", code(secrets));
    profile.fence_limits().iter().for_each(|sentence| writeln!(text, "- {sentence}").unwrap());
    text
}

#[test]
fn the_page_tells_what_the_plans_hold() {
    let sections: Vec<String> = catalogue().all().iter().map(|profile| section(*profile)).collect();
    let base = code(base_names().into_iter().map(str::to_owned));
    let sections = format!(
        "These variables pass to every program, when they are set: {base}.\n\n{}",
        sections.join("\n")
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("DELEGATION_MATRIX").is_some_and(|value| value == "write") {
        fs::write(&path, format!("{before}{BEGIN}{sections}{END}{after}")).unwrap();
        return;
    }
    let difference = sections.lines().zip(written.lines()).find(|(left, right)| left != right);
    assert_eq!(difference, None, "`cargo xtask matrix --write` writes the page again");
    assert_eq!(sections, written);
}
