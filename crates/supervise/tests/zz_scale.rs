mod common;
use common::*;
use supervise::Supervisor;
use std::time::*;
#[test]
fn scale() {
    let mut stage = Stage::new("100 5000 1000 60000");
    let first = stage.admit("hold").id();
    for i in 0..10000u32 { let w = std::env::var("W").is_ok(); stage.admit_as("finish", Variant { admitted: 1+(i%50), writes: w.then_some(7), ..Variant::default() }); }
    let t = Instant::now();
    stage.embedded(2).ensure(&stage.root).unwrap();
    println!("ensure {:?}", t.elapsed());
    let (_, sup) = stage.wait_for_start(first);
    println!("first start {:?}", t.elapsed());
    let st = |p: u32| std::fs::read_to_string(format!("/proc/{p}/status")).unwrap().lines().filter(|l| l.starts_with("RssAnon")||l.starts_with("VmRSS")).collect::<Vec<_>>().join(" ");
    println!("{}", st(sup));
    let cpu = || std::fs::read_to_string(format!("/proc/{sup}/stat")).unwrap().split(' ').skip(13).take(2).map(str::to_owned).collect::<Vec<_>>();
    println!("cpu {:?}", cpu());
    if std::env::var("W").is_err() { let n0 = starts(&stage.events()).len(); std::thread::sleep(Duration::from_secs(10)); println!("throughput {}/s", (starts(&stage.events()).len()-n0)/10);} else { std::thread::sleep(Duration::from_secs(10)); }
    println!("cpu {:?} {}", cpu(), st(sup));
}
#[test]
fn latency() {
    let mut stage = Stage::new("2000 5000 1000 60000");
    let mut cold = vec![];
    let mut warm = vec![];
    for round in 0..30 {
        let task = stage.admit("finish");
        let t = Instant::now();
        stage.embedded(2).submit(&stage.root, &task).unwrap();
        let s = t.elapsed();
        stage.wait_until_closed(task.id());
        if round == 0 { cold.push((s, t.elapsed())) } else { warm.push((s, t.elapsed())) }
    }
    warm.sort_by_key(|w| w.1);
    println!("cold {cold:?} warm median {:?}", warm[15]);
}
