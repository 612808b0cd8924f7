/* The lines that the benchmark prints. */
#ifndef KVC_KERNELS_PEERS_REPORT_HH
#define KVC_KERNELS_PEERS_REPORT_HH

namespace kvc::peers
{

/* Fraction of the memory of this process that is on huge pages. */
double huge_share();

/* Says whether a target is reached; empty if the target is 0. */
const char *verdict(double reached, double target);

/* Prints the rates of a peer and of our table [million/s], their ratio and the target ratio (0: none).
 * `limit_mops` is the rate that memory allows our table, or 0 if it is not known [million/s]. */
void print_ratio(const char *what, double theirs, double mine, double target, double limit_mops);

} // namespace kvc::peers

#endif
