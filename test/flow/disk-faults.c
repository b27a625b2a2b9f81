/* A disk that hangs or fails: preloaded into the service, this takes the place of fdatasync. The folder DISK_FAULTS says
   what it does: while it holds the file `hold`, a call waits; while it holds `fail`, a call fails. The file `held` says
   that a call waits, the file `thread` that a thread other than the main one has called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path_of(const char *name) {
	static _Thread_local char path[4096];
	snprintf(path, sizeof path, "%s/%s", getenv("DISK_FAULTS"), name);
	return path;
}

static int is_there(const char *name) { return access(path_of(name), F_OK) == 0; }

static void make(const char *name) {
	int file = open(path_of(name), O_CREAT | O_WRONLY, 0600);
	if (file >= 0) close(file);
}

int fdatasync(int file) {
	if (gettid() != getpid() && !is_there("thread")) make("thread");
	if (is_there("hold")) make("held");
	while (is_there("hold")) usleep(1000);
	if (is_there("fail")) {
		errno = EIO;
		return -1;
	}
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	return real(file);
}
