//! t
#[path = "../tests/program/sample.rs"]
mod sample;
use std::time::Instant;
fn main() {
    let d = tempfile::tempdir().unwrap();
    let p = record::AbsolutePath::new(&d.path().join("r")).unwrap();
    let root = store::Root::open_or_create(&p).unwrap();
    let mut t = vec![];
    for _ in 0..300 {
        let s = sample::Sample::new(root.id(), store::random_task_id());
        let a = Instant::now();
        let store::Admitted::New(_) = s.admit(&root).unwrap() else { panic!() };
        t.push(a.elapsed());
    }
    for (n, v) in [("admit", &mut t)] {
        v.sort();
        println!("{n} median {:?} p95 {:?}", v[150], v[285]);
    }
}
