//! The schemas in `schemas/` are those of the types.
//!
//! To write them anew: `DELEGATION_WRITE_DOCS=1 cargo test -p contract --test schemas`.

use std::path::Path;

use gates::json::pretty;

#[test]
fn no_schema_has_drifted() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let write = std::env::var_os("DELEGATION_WRITE_DOCS").is_some();
    for (name, schema) in contract::schema::all().expect("schemas") {
        let path = directory.join(&name);
        let expected = pretty(&schema) + "\n";
        if write {
            std::fs::create_dir_all(&directory).expect("a directory");
            std::fs::write(&path, &expected).expect("written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("schemas/{name}: {error}"));
        assert_eq!(found, expected, "schemas/{name} is not the schema of the type");
    }
}

#[test]
fn closed_objects_are_closed_and_words_are_words() {
    let schemas = contract::schema::all().expect("schemas");
    let schema = |name: &str| &schemas.iter().find(|(own, _)| own == name).expect("a schema").1;
    let contract = schema("executor-contract.json");
    assert_eq!(contract["additionalProperties"], false);
    assert_eq!(contract["$defs"]["ToolPolicy"]["required"].as_array().map(Vec::len), Some(9));
    let gate = schema("central-gate.json");
    assert!(gate.get("additionalProperties").is_none());
    let result = schema("envelope-result.json");
    assert_eq!(result["required"].as_array().map(Vec::len), Some(8));
    assert_eq!(result["properties"]["tokens"]["type"], serde_json::json!(["object", "null"]));
    assert_eq!(result["properties"]["usage_source"]["enum"][0], "model_usage");
    assert_eq!(result["additionalProperties"], true);
}
