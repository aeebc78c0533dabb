/* A program of MPI that knows nothing of prof. */
#include <mpi.h>
int main(int argc, char **argv)
{
    int value = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; ++i) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
