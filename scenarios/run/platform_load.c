/* Loads a platform file in plain SimGrid, as any other tool would, and checks that devices are there. Usage:
 * platform_load FILE [NAME...]. Every NAME must be a host or a link of the platform. Prints the number of
 * hosts and links. */
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int missing = 0;
    simgrid_init(&argc, argv);
    if (argc < 2) {
        fprintf(stderr, "Usage: platform_load FILE [NAME...]\n");
        return 2;
    }
    simgrid_load_platform(argv[1]);
    for (int i = 2; i < argc; i++) {
        if (sg_host_by_name(argv[i]) == NULL && sg_link_by_name(argv[i]) == NULL) {
            fprintf(stderr, "%s: no host or link %s\n", argv[1], argv[i]);
            missing++;
        }
    }
    printf("%zu hosts, %zu links\n", sg_host_count(), sg_link_count());
    return missing > 0;
}
