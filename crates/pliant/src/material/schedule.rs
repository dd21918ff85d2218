//! Moduli as a function of time.

use super::Moduli;
use crate::math::Real;

/// The moduli at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchedulePoint {
    /// [s]
    pub time: Real,
    /// Both zero: a liquid.
    pub moduli: Moduli,
    /// Dynamic viscosity while it is a liquid [Pa s].
    pub viscosity: Real,
}

/// What matter with a schedule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Solid,
    /// On its way from a solid to a liquid.
    Melting,
    Liquid,
    /// On its way from a liquid back to the solid it was.
    Gathering,
}

/// Moduli that change with time: given at some times, constant before the first and after the last.
///
/// Between two times both moduli are interpolated geometrically, G(t) = G_a^(1-w) G_b^w: a fall over three decades takes
/// the same time for each of them, and equal Poisson's ratios at the two times are that ratio in between. To and from
/// zero, a liquid, they go in a straight line, as viscosities always do.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    points: Vec<SchedulePoint>,
}

impl Schedule {
    /// There is at least one point, and times rise.
    pub fn new(points: Vec<SchedulePoint>) -> Self {
        assert!(!points.is_empty(), "a schedule without points has no moduli");
        assert!(points.windows(2).all(|w| w[0].time < w[1].time), "times must rise");
        Schedule { points }
    }

    pub fn points(&self) -> &[SchedulePoint] {
        &self.points
    }

    /// The moduli at a time [s].
    pub fn at(&self, time: Real) -> Moduli {
        let next = self.points.partition_point(|point| point.time <= time);
        let (Some(a), Some(b)) = (next.checked_sub(1).map(|k| self.points[k]), self.points.get(next)) else {
            return self.points[next.saturating_sub(1)].moduli;
        };
        let w = (time - a.time) / (b.time - a.time);
        let between = |a: Real, b: Real| match a > 0.0 && b > 0.0 {
            true => a * (b / a).powf(w),
            false => a + (b - a) * w,
        };
        Moduli { shear: between(a.moduli.shear, b.moduli.shear), bulk: between(a.moduli.bulk, b.moduli.bulk) }
    }

    /// What it is at a time.
    pub fn phase(&self, time: Real) -> Phase {
        let next = self.points.partition_point(|point| point.time <= time);
        let last = self.points.len() - 1;
        let is_liquid = |k: usize| self.points[k.min(last)].moduli.is_liquid();
        match (is_liquid(next.saturating_sub(1)), is_liquid(next)) {
            (false, false) => Phase::Solid,
            (false, true) => Phase::Melting,
            (true, true) => Phase::Liquid,
            (true, false) => Phase::Gathering,
        }
    }

    /// The viscosity at a time [Pa s].
    pub fn viscosity_at(&self, time: Real) -> Real {
        let next = self.points.partition_point(|point| point.time <= time);
        let (Some(a), Some(b)) = (next.checked_sub(1).map(|k| self.points[k]), self.points.get(next)) else {
            return self.points[next.saturating_sub(1)].viscosity;
        };
        a.viscosity + (b.viscosity - a.viscosity) * (time - a.time) / (b.time - a.time)
    }

    /// The largest of each modulus.
    pub fn stiffest(&self) -> Moduli {
        let largest =
            |part: fn(&Moduli) -> Real| self.points.iter().map(|p| part(&p.moduli)).fold(0.0, Real::max);
        Moduli { shear: largest(|m| m.shear), bulk: largest(|m| m.bulk) }
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Gathering, Melting, Solid};
    use super::*;

    fn stiff_soft_stiff() -> Schedule {
        let point =
            |time, e| SchedulePoint { time, moduli: Moduli::from_young_poisson(e, 0.3), viscosity: 0.0 };
        Schedule::new(vec![point(1.0, 5e5), point(2.0, 5e2), point(4.0, 5e5)])
    }

    #[test]
    fn a_schedule_passes_its_points_and_is_constant_outside() {
        let schedule = stiff_soft_stiff();
        for point in schedule.points() {
            assert_eq!(schedule.at(point.time), point.moduli);
        }
        assert_eq!(schedule.at(0.0), schedule.at(1.0));
        assert_eq!(schedule.at(9.0), schedule.at(4.0));
    }

    #[test]
    fn moduli_reach_zero_in_a_straight_line() {
        let mut points = stiff_soft_stiff().points().to_vec();
        points[1] = SchedulePoint { moduli: Moduli::ZERO, viscosity: 3.0, ..points[1] };
        let schedule = Schedule::new(points);
        assert_eq!(schedule.at(2.0), Moduli::ZERO);
        assert!((schedule.at(1.5).shear / schedule.at(1.0).shear - 0.5).abs() < 1e-12);
        assert_eq!((schedule.viscosity_at(1.5), schedule.viscosity_at(2.0)), (1.5, 3.0));
        assert_eq!(schedule.stiffest(), schedule.at(0.0));
        let phases = [0.5, 1.5, 2.0, 3.0, 4.0, 5.0].map(|time| schedule.phase(time));
        assert_eq!(phases, [Solid, Melting, Gathering, Gathering, Solid, Solid]);
    }

    #[test]
    fn each_decade_takes_the_same_time_and_the_poisson_ratio_stays() {
        let schedule = stiff_soft_stiff();
        for (time, e) in [(1.0 + 1.0 / 3.0, 5e4), (1.0 + 2.0 / 3.0, 5e3), (3.0, 5e2 * 1e3f64.sqrt())] {
            let moduli = schedule.at(time);
            // rounding of powers
            assert!((moduli.youngs_modulus() / e - 1.0).abs() < 1e-12, "{time}: {moduli:?}");
            assert!((moduli.poisson_ratio() - 0.3).abs() < 1e-12, "{time}: {moduli:?}");
        }
    }
}
