//! Inputs that fuzzing broke, or starts from, keep their promises.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub)]
mod fuzz;

#[test]
fn every_seed_of_the_fuzz_target_holds() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/text");
    let mut number = 0;
    for entry in std::fs::read_dir(seeds).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        fuzz::check(&std::fs::read(path).unwrap());
        number += 1;
    }
    assert!(number >= 3);
}
