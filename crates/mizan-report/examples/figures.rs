//! Draws sample figures into a directory, for eyes to judge:
//! `cargo run --release -p mizan-report --example figures -- DIR`.

use mizan_report::{Axis, Figure, Panel, Series, Terminal};
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    std::fs::create_dir_all(&directory)?;
    for (name, figure) in [
        ("budget-curves", budget_curves()),
        ("composition", composition()),
        ("grid", grid()),
        ("crowded", crowded()),
    ] {
        std::fs::write(directory.join(format!("{name}.svg")), figure.to_svg())?;
        std::fs::write(directory.join(format!("{name}.csv")), figure.to_csv())?;
    }
    let terminal = Terminal::default();
    if let Some(panel) = budget_curves().panels.first() {
        println!("{}", terminal.chart(panel));
    }
    if let Some(panel) = composition().panels.first() {
        println!(
            "{}",
            Terminal {
                ascii: true,
                ..terminal
            }
            .chart(panel)
        );
    }
    println!("spent {} 62 %", terminal.bar(0.62, 40));
    Ok(())
}

/// Figure 1 of Mironov (2017): Rényi budget curves of three basic mechanisms.
fn budget_curves() -> Figure {
    let curve = |name: String, epsilon: &dyn Fn(f64) -> f64| {
        // The closed forms are 0/0 at order 1; start just above.
        Series::sampled(name, 1.0, 10.0, 300, |order| epsilon(order.max(1.0 + 1e-6)))
    };
    let panel = |title| {
        Panel::new(
            title,
            Axis::linear("order α"),
            Axis::linear("Rényi divergence ε"),
        )
    };
    let response =
        [0.75, 0.6, 0.55]
            .into_iter()
            .fold(panel("Randomized response"), |panel, p: f64| {
                panel.with(curve(format!("p = {p}"), &move |a| {
                    (p.powf(a) * (1.0 - p).powf(1.0 - a) + (1.0 - p).powf(a) * p.powf(1.0 - a)).ln()
                        / (a - 1.0)
                }))
            });
    let laplace = [1.0, 0.5, 0.25]
        .into_iter()
        .fold(panel("Laplace noise"), |panel, t: f64| {
            panel.with(curve(format!("1/λ = {t}"), &move |a| {
                t + ((a - 1.0) * ((1.0 - 2.0 * a) * t).exp_m1() / (2.0 * a - 1.0)).ln_1p()
                    / (a - 1.0)
            }))
        });
    let gaussian =
        [2.0, 3.0, 4.0]
            .into_iter()
            .fold(panel("Gaussian noise"), |panel, sigma: f64| {
                panel.with(curve(format!("σ = {sigma}"), &move |a| {
                    a / (2.0 * sigma * sigma)
                }))
            });
    Figure::new("Rényi budget curves of three basic mechanisms")
        .with(response)
        .with(laplace)
        .with(gaussian)
}

/// What `k` mechanisms cost by five ways of counting: logarithmic both ways.
fn composition() -> Figure {
    let epsilon = 0.01_f64;
    let log_inverse_delta = 1e-6_f64.ln().abs();
    let powers = |exponent: f64, scale: f64| {
        (0..=60).map(move |step| {
            let count = 10_f64.powf(f64::from(step) / 10.0);
            (count, scale * count.powf(exponent))
        })
    };
    let advanced = powers(0.5, epsilon * (2.0 * log_inverse_delta).sqrt())
        .map(|(count, cost)| (count, cost + count * epsilon * epsilon.exp_m1()));
    let concentrated = powers(0.5, epsilon * (2.0 * log_inverse_delta).sqrt())
        .map(|(count, cost)| (count, cost + count * epsilon * epsilon / 2.0));
    let panel = Panel::new(
        "ε₀ = 0.01, δ = 10⁻⁶",
        Axis::log10("number of mechanisms k"),
        Axis::log10("total ε"),
    )
    .with(Series::new("basic", powers(1.0, epsilon).collect()))
    .with(Series::new("advanced", advanced.collect()))
    .with(Series::new("concentrated", concentrated.collect()))
    .with(Series::new("square root", powers(0.5, epsilon).collect()))
    .with(Series::new("one mechanism", vec![(1.0, epsilon), (1e6, epsilon)]).markers());
    Figure::new("Composition").with(panel)
}

/// Six panels in two rows of three with the same legend, gaps and a cut.
fn grid() -> Figure {
    let panels = [0.01, 0.1, 1.0, 10.0, 1e-7, 3e4]
        .into_iter()
        .map(|size: f64| {
            let x = Axis::linear("ε");
            let y = if size > 1.0 {
                Axis::log10("δ")
            } else {
                Axis::linear("failure probability δ")
            };
            Panel::new(format!("sensitivity {size}"), x, y)
                .with(Series::sampled("exact", 0.0, 5.0, 200, |e| {
                    size * (-e * e).exp()
                }))
                .with(Series::sampled("moments", 0.0, 5.0, 200, |e| {
                    size * (-e).exp()
                }))
                .with(Series::sampled("by Rényi", 0.0, 5.0, 10, |e| size / (1.0 + e)).markers())
                .with(Series::sampled("with a pole", 0.0, 5.0, 200, |e| {
                    size * 0.1 / (e - 2.5).abs()
                }))
        });
    let panels: Vec<Panel> = panels
        .map(|mut panel| {
            if panel.title.ends_with(" 1") {
                panel.y = panel.y.range(0.0, 1.0);
            }
            panel
        })
        .collect();
    Figure {
        title: "Six panels".to_owned(),
        panels,
        columns: 3,
        ..Figure::default()
    }
}

/// Curves everywhere and long names: legends must leave the plot.
fn crowded() -> Figure {
    let panel = |title: &str, count: u32| {
        let wave = |phase: u32| {
            let name = format!("a curve with phase {phase}");
            Series::sampled(name, 0.0, 20_000.0, 400, move |x| {
                (x / 900.0 + f64::from(phase)).sin() * 2.5e6
            })
        };
        let x = Axis::linear("number of people in the smallest of the groups");
        let y = Axis::linear("sum of the contributions");
        (0..count)
            .map(wave)
            .fold(Panel::new(title, x, y), Panel::with)
    };
    Figure::new("Legends that found no free place inside, under a title too long for one line")
        .with(panel(
            "Seven curves & a title that needs two lines to be told",
            7,
        ))
        .with(panel("Two", 2))
}
