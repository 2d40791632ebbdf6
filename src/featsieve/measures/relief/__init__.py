"""Relief, ReliefF and RReliefF."""
