"""The long form of tests/crawl/cluster_test.py: three nodes, a large web, many kills of nodes and of nats-server.

usage: cluster.py PORTOLAN [--pages N] [--kills K]

    python3 tests/soak/cluster.py build/release/bin/portolan --pages 100000 --kills 10
"""

import argparse
import os
import pathlib
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    test = pathlib.Path(__file__).resolve().parent.parent / "crawl" / "cluster_test.py"
    os.environ["CLUSTER_TEST_PAGES"] = str(options.pages)
    os.environ["CLUSTER_TEST_KILLS"] = str(options.kills)
    name = "OneMachine.test_nodes_and_server_are_killed_and_nothing_is_lost"
    os.execv(sys.executable, [sys.executable, str(test), options.program, name])


if __name__ == "__main__":
    main()
