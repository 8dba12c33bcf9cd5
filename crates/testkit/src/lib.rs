//! What tests and simulations of the other rooms share: a simulated clock, a faulty store,
//! scripted executors, simulated worlds. Never part of the product.
