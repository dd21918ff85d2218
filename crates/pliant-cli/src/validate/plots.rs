//! Plots of validation cases (SVG).

use plotters::prelude::*;
use std::path::Path;

/// A picture of some curves.
pub struct Plot {
    pub name: String,
    pub x_label: &'static str,
    pub y_label: &'static str,
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

/// Draws `DIR/CASE_PLOT.svg` for each plot.
pub fn draw(dir: &Path, case: &str, plots: &[Plot]) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)?;
    for plot in plots {
        let path = dir.join(format!("{case}_{}.svg", plot.name));
        draw_one(&path, plot).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn draw_one(path: &Path, plot: &Plot) -> Result<(), Box<dyn std::error::Error>> {
    let points = || plot.curves.iter().flat_map(|(_, points)| points);
    let range = |value: &dyn Fn(&(f64, f64)) -> f64| {
        let (lo, hi) = points().map(value).fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
        let margin = 0.05 * (hi - lo).max(1e-12);
        lo - margin..hi + margin
    };
    let area = SVGBackend::new(path, (800, 450)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(15)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(range(&|p| p.0), range(&|p| p.1))?;
    chart.configure_mesh().x_desc(plot.x_label).y_desc(plot.y_label).light_line_style(TRANSPARENT).draw()?;
    for (k, (label, points)) in plot.curves.iter().enumerate() {
        let color = Palette99::pick(k).to_rgba();
        chart
            .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.2)).draw()?;
    area.present()?;
    Ok(())
}
