import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../trial/programs.ts';

const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' };
const BOOT_MS = 60_000;

/**
 * Starts systemd as the first process of namespaces of its own, in which it sees nothing of the machine's own
 * one. Its root is no chroot, because a process in one cannot have users of its own (PrivateUsers).
 */
const BOOT = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --rbind /sys sys
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd,xattr cgroup sys/fs/cgroup/systemd
mount -t tmpfs -o mode=755 tmpfs dev # not the machine's: systemd makes links in it, and removes files of users from its shm
for name in null zero full random urandom tty; do touch "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
mkdir dev/shm dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
mkdir -p before
pivot_root . before
cd /
umount --lazy before
mount --make-rshared / # as on a machine: credentials are mounted in another namespace
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=lapel /lib/systemd/systemd --system --unit=multi-user.target
`;

/** A Debian that runs, with its own systemd and network, in a folder that debootstrap has filled. */
export async function bootDebian(root: string) {
  const script = join(root, 'boot.sh');
  writeFileSync(script, BOOT);
  const flags = ['--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts', '--net', '--cgroup'];
  const child = spawn('unshare', [...flags, 'bash', script, root], { stdio: 'ignore', env: ENV });
  const closed = once(child, 'close');
  const kill = (): void => void child.kill('SIGKILL'); // all processes of the Debian end with it
  process.on('exit', kill);
  const first = async (): Promise<string> => {
    const { stdout } = await run(['ps', '--ppid', String(child.pid), '-o', 'pid='], { env: ENV, cwd: '/' });
    return stdout.trim();
  };
  /** Runs a program in that Debian. */
  const inside = async (command: readonly string[], expected = 0): Promise<string> => {
    const enter = ['nsenter', '--target', await first(), '--all', '--root', 'env', '--chdir=/'];
    const { stdout, stderr } = await run([...enter, ...command], { env: ENV, cwd: '/' }, expected);
    return stdout + stderr;
  };
  const until = performance.now() + BOOT_MS;
  while (performance.now() < until) {
    const isUp = await inside(['systemctl', 'is-system-running', '--wait']).then(
      (state) => /running/.test(state),
      () => false,
    );
    if (isUp) break;
    await pause(200);
  }
  return {
    inside,
    /** Runs a line of a shell. */
    shell: (line: string): Promise<string> => inside(['bash', '-euc', line]),
    /** Repeats a line of a shell until its output matches. */
    async becomes(line: string, pattern: RegExp): Promise<string> {
      for (;;) {
        const text = await inside(['bash', '-c', `${line} || true`]);
        if (pattern.test(text)) return text;
        if (performance.now() > until + BOOT_MS * 5) throw new Error(`${line} does not become ${pattern}: ${text}`);
        await pause(200);
      }
    },
    async [Symbol.asyncDispose]() {
      kill();
      process.off('exit', kill);
      await closed;
    },
  };
}
