/* A disk that hangs or fails: preloaded into the service, this takes the place of fdatasync, with which the service waits
   for a commit, and of fsync, with which SQLite waits while it copies its log. The folder DISK_FAULTS says what it does:
   while it has the file `hold`, fdatasync waits, and with `hold-copy` fsync; while it has `fail`, fdatasync fails. The
   files `held` and `copy-held` say that a call waits, the file `thread` that a thread other than the main one has called
   fdatasync. */
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

static void hang(const char *fault, const char *sign) {
	if (is_there(fault)) make(sign);
	while (is_there(fault)) usleep(1000);
}

int fdatasync(int file) {
	if (gettid() != getpid() && !is_there("thread")) make("thread");
	hang("hold", "held");
	if (is_there("fail")) {
		errno = EIO;
		return -1;
	}
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	return real(file);
}

int fsync(int file) {
	hang("hold-copy", "copy-held");
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	return real(file);
}
