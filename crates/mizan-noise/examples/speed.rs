use mizan_noise::*;
use std::time::Instant;
fn main() {
    let mut e = Entropy::system().unwrap();
    let mut buf = vec![0i64; 1 << 20];
    for s in ["0.5", "3.7", "50", "1000", "1048576", "1e12", "1e15"] {
        let sc: ExactScale = s.parse().unwrap();
        let t = Instant::now();
        let l = DiscreteLaplace::new(sc);
        l.fill(&mut e, &mut buf[..1]).unwrap();
        let b1 = t.elapsed();
        let t = Instant::now();
        l.fill(&mut e, &mut buf).unwrap();
        let d = t.elapsed();
        let mean: f64 = buf.iter().map(|&x| x.abs() as f64).sum::<f64>() / buf.len() as f64;
        let t = Instant::now();
        let g = DiscreteGaussian::new(sc);
        g.fill(&mut e, &mut buf[..1]).unwrap();
        let b2 = t.elapsed();
        let t = Instant::now();
        g.fill(&mut e, &mut buf).unwrap();
        let d2 = t.elapsed();
        let sd: f64 =
            (buf.iter().map(|&x| (x as f64) * (x as f64)).sum::<f64>() / buf.len() as f64).sqrt();
        let t = Instant::now();
        for _ in 0..1000 {
            l.draw(&mut e).unwrap();
        }
        let d3 = t.elapsed();
        let t = Instant::now();
        for _ in 0..1000 {
            g.draw(&mut e).unwrap();
        }
        let d4 = t.elapsed();
        println!(
            "{s}: laplace {:.1} M/s build {:?} mean {mean}  gauss {:.1} M/s build {:?} sd {sd}; ref {:?} {:?}",
            1.048576 / d.as_secs_f64(),
            b1,
            1.048576 / d2.as_secs_f64(),
            b2,
            d3 / 1000,
            d4 / 1000
        );
    }
}
