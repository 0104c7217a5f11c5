//! The pictures of docs/noise.md:
//! `cargo run --release -p mizan-cli --example noise -- docs`.
#![allow(clippy::cast_precision_loss, reason = "pictures")]

use std::path::PathBuf;
use std::time::Instant;

use mizan_noise::{DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, Noise, NoiseError};
use mizan_report::{Axis, Figure, Panel, Series};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    std::fs::write(folder.join("noise-envelope.svg"), envelope().to_svg())?;
    std::fs::write(folder.join("noise-time.svg"), time()?.to_svg())?;
    Ok(())
}

/// The steps above the curve, with wider bins than the sampler has, and what
/// was drawn in the end.
fn envelope() -> Figure {
    const SIGMA: f64 = 8.0;
    const WIDTH: u32 = 4;
    let height = |x: f64| (-0.5 * (x / SIGMA).powi(2)).exp();
    let steps = (0..7).flat_map(|bin| {
        let start = f64::from(1 + bin * WIDTH);
        let top = height(start);
        [(start - 0.5, top), (start - 0.5 + f64::from(WIDTH), top)]
    });
    let values: Vec<(f64, f64)> = (1..=28)
        .flat_map(|x| [(f64::from(x), height(f64::from(x))), (f64::NAN, f64::NAN)])
        .collect();
    let picture = Panel::new(
        "Choose a bin, a place in it, and keep what is below",
        Axis::linear("size of the noise"),
        Axis::linear("e^-g(x)"),
    )
    .with(Series::new("weights of the bins", steps.collect()))
    .with(Series::new("what is wanted", values).markers());
    Figure::new("The fast sampler, with bins of 4 at σ = 8").with(picture)
}

/// The mean time of a draw by its size: draws one by one, and batches by the
/// mean size in them.
fn time() -> Result<Figure, Box<dyn std::error::Error>> {
    const SAMPLES: u32 = 400_000;
    const BATCH: usize = 4;
    let scale: ExactScale = "50".parse()?;
    let mut panels = Vec::new();
    for (name, noise) in [
        (
            "discrete-laplace(50)",
            Noise::Laplace(DiscreteLaplace::new(scale)),
        ),
        (
            "discrete-gaussian(50)",
            Noise::Gaussian(DiscreteGaussian::new(scale)),
        ),
    ] {
        let single = by_size(SAMPLES, |entropy| {
            let start = Instant::now();
            let drawn = noise.draw(entropy)?;
            Ok((
                start.elapsed().as_nanos() as f64,
                drawn.unsigned_abs() as f64,
            ))
        })?;
        let mut places = [0; BATCH];
        let batch = by_size(SAMPLES, |entropy| {
            let start = Instant::now();
            noise.fill(entropy, &mut places)?;
            let time = start.elapsed().as_nanos() as f64;
            let size: f64 = places.iter().map(|x| x.unsigned_abs() as f64).sum();
            Ok((time, size / BATCH as f64))
        })?;
        let panel = Panel::new(
            name,
            Axis::linear("size"),
            Axis::linear("ns").range(0.0, 5000.0),
        )
        .with(Series::new("one by one, by the theorem", single).markers())
        .with(Series::new("four at once, fixed work", batch).markers());
        panels.push(panel);
    }
    let figure = Figure::new("Does the time tell the noise?").columns(2);
    Ok(panels.into_iter().fold(figure, Figure::with))
}

/// Mean times in cells of ten, where there are enough samples; the slowest in a
/// hundred, which were interrupted, are left out.
fn by_size(
    samples: u32,
    mut sample: impl FnMut(&mut Entropy) -> Result<(f64, f64), NoiseError>,
) -> Result<Vec<(f64, f64)>, NoiseError> {
    let mut entropy = Entropy::system()?;
    let mut cells: Vec<Vec<f64>> = vec![Vec::new(); 16];
    for _ in 0..samples {
        let (time, size) = sample(&mut entropy)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        let cell = (size / 10.0) as usize;
        if let Some(times) = cells.get_mut(cell) {
            times.push(time);
        }
    }
    let mean = |(at, mut times): (usize, Vec<f64>)| {
        times.sort_by(f64::total_cmp);
        times.truncate(times.len() * 99 / 100);
        (times.len() >= 500).then(|| {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            (10.0 * at as f64 + 5.0, mean)
        })
    };
    Ok(cells.into_iter().enumerate().filter_map(mean).collect())
}
