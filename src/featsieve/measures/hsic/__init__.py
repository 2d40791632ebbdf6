"""HSIC, MMD and KTA: dependence seen by kernels."""
