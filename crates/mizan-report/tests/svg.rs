//! Properties of every SVG: well formed, self-contained, deterministic.

use mizan_report::{Axis, Figure, Panel, Series, Stroke};

fn figure() -> Figure {
    let panel = |title: &str| {
        Panel::new(title, Axis::linear("order α"), Axis::log10("δ < 1 & more"))
            .with(Series::sampled("σ = \"2\"", 1.0, 10.0, 100, |x| {
                10_f64.powf(-x)
            }))
            .with(Series::sampled("dotted", 1.0, 10.0, 100, |x| 0.5 / x).stroke(Stroke::Dotted))
    };
    let points = vec![
        (1.0, f64::NAN),
        (2.0, 1e300),
        (3.0, -1.0),
        (4.0, 1e-9),
        (5.0, 0.5),
    ];
    Figure::new("Title <script>")
        .with(panel("first"))
        .with(panel("second").with(Series::new("awkward", points).markers()))
}

/// The names of the elements in order of opening, if all are closed properly.
fn elements(svg: &str) -> Option<Vec<&str>> {
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>')?;
        let name = tag.split([' ', '/']).find(|part| !part.is_empty())?;
        if tag.starts_with('/') {
            (open.pop()? == name).then_some(())?;
        } else {
            seen.push(name);
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    open.is_empty().then_some(seen)
}

#[test]
fn it_is_well_formed_and_accessible() {
    let svg = figure().to_svg();
    let elements = elements(&svg).expect("every element is closed");
    assert_eq!(elements.get(..3), Some(["svg", "title", "desc"].as_slice()));
    assert!(svg.contains("role=\"img\"") && svg.contains("viewBox=\"0 0 "));
    assert!(svg.contains("Title &lt;script&gt;") && !svg.contains("<script"));
    assert!(svg.contains("σ = &quot;2&quot;") && svg.contains("δ &lt; 1 &amp; more"));
}

#[test]
fn coordinates_are_finite_and_rounded() {
    let svg = figure().to_svg();
    for number in
        svg.split(|symbol: char| !(symbol.is_ascii_alphanumeric() || ".-".contains(symbol)))
    {
        assert!(!["NaN", "inf", "-inf"].contains(&number));
        if let (Ok(_), Some((_, decimals))) = (number.parse::<f64>(), number.split_once('.')) {
            assert!(decimals.len() <= 2, "{number}");
        }
    }
}

#[test]
fn it_is_the_same_every_time() {
    assert_eq!(figure().to_svg(), figure().to_svg());
}

#[test]
fn the_scale_shows_powers_of_ten_raised() {
    assert!(figure().to_svg().contains("10<tspan dy=\"-4\""));
}

#[test]
fn empty_figures_are_still_pictures() {
    assert!(elements(&Figure::default().to_svg()).is_some());
    let panel = Panel::new("", Axis::default(), Axis::default());
    assert!(elements(&Figure::new("").with(panel).to_svg()).is_some());
}

#[test]
fn a_hundred_thousand_points_are_thinned() {
    let wave = Series::sampled("wave", 0.0, 10.0, 100_000, f64::sin);
    let panel = Panel::new("", Axis::linear("x"), Axis::linear("y")).with(wave);
    let svg = Figure::new("Many points").with(panel).to_svg();
    assert!(svg.len() < 200_000, "{}", svg.len());
}

#[test]
fn panels_with_the_same_curves_share_one_legend() {
    let panel = |title: &str| {
        let line = Series::sampled("shared name", 0.0, 1.0, 2, |x| x);
        Panel::new(title, Axis::linear("x"), Axis::linear("y")).with(line)
    };
    let svg = Figure::new("").with(panel("a")).with(panel("b")).to_svg();
    assert_eq!(svg.matches(">shared name</text>").count(), 1);
}
