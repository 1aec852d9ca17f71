//! The central gate, the six executable gates and the read-only router `delegation-route` (router.md).
//!
//! The gates decide which profile may serve which lane; the router reads them, validates them as a whole and answers. It
//! starts nothing, writes nothing and grants nothing: every answer says that the user directs each dispatch. What a
//! runner may do (`runtime_controls`) is not read here at all.
//!
//! [`json`], [`source`] and [`finding`] are also the ground of the other inspector, `contract`.

pub mod central;
pub mod embedded;
pub mod evidence;
pub mod executable;
pub mod family;
pub mod finding;
pub mod json;
pub mod limits;
pub mod router;
pub mod rules;
pub mod source;
pub mod words;
