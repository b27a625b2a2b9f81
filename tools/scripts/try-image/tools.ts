import { spawnSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { baseImage } from '../release/images.ts';
import { ROOT } from '../release/lockfile.ts';
import { run } from '../trial/programs.ts';
import { debianMirror } from './debian.ts';

/** npm's program: npm runs this script. */
export const NPM = process.env['npm_execpath'] ?? '';
/** The user of the images, `node`. */
export const USER = 1000;
/** Limits that a process without privileges of its own may have. */
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];
const PODMAN = ['podman', '--cgroup-manager', 'cgroupfs', '--runtime', 'runc'];

/** The tools for images, with a storage of their own in a new folder, which ends with it. */
export function createTools() {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-image-'));
  const storage = join(folder, 'storage.conf');
  const [images, running] = [join(folder, 'images'), join(folder, 'run')];
  writeFileSync(storage, `[storage]\ndriver = "vfs"\ngraphroot = "${images}"\nrunroot = "${running}"\n`);
  const env = {
    ...(process.env as Record<string, string>),
    CONTAINERS_STORAGE_CONF: storage,
    BUILDAH_ISOLATION: 'chroot',
  };
  const place = { env, cwd: folder };
  const podman = async (args: readonly string[], expected = 0): Promise<string> => {
    const { stdout, stderr } = await run([...PODMAN, ...args], place, expected);
    return stdout + stderr;
  };

  /** Makes the base of Debian's packages and the Node of this checkout, where none can be pulled. */
  async function makeBase(name: string): Promise<void> {
    const root = join(folder, 'base');
    const include = '--include=ca-certificates,libstdc++6';
    await run(['debootstrap', '--variant=minbase', include, 'bookworm', root, debianMirror()], place);
    cpSync(process.execPath, join(root, 'usr/local/bin/node'));
    const modules = join(root, 'usr/local/lib/node_modules');
    cpSync(join(dirname(NPM), '..'), join(modules, 'npm'), { recursive: true, dereference: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
    await run(['chroot', root, 'useradd', '--create-home', '--uid', `${USER}`, 'node'], place);
    const { stdout } = await run(['buildah', 'from', 'scratch'], place);
    await run(['buildah', 'copy', '--quiet', stdout.trim(), root, '/'], place);
    await run(['buildah', 'commit', '--quiet', '--rm', stdout.trim(), name], place);
    rmSync(root, { recursive: true });
  }

  return {
    folder,
    podman,
    /** Pulls the base of the Dockerfile, or makes one. Returns how it got it. */
    async getBase(): Promise<string> {
      const base = `docker.io/library/${baseImage()}`;
      const pulled = spawnSync('buildah', ['pull', '--quiet', base], { env, timeout: 120_000 });
      if (pulled.status === 0) return base;
      await makeBase(base);
      return `${base} cannot be pulled; made of Debian's packages and the Node of this checkout`;
    },
    /** Makes a release, and the folder from which the images are built: nothing else of this checkout is in it. */
    async makeContext(): Promise<void> {
      const context = join(folder, 'context');
      mkdirSync(context);
      for (const name of ['Dockerfile', '.dockerignore']) cpSync(join(ROOT, name), join(context, name));
      const node = [process.execPath, '--disable-warning=ExperimentalWarning'];
      await run([...node, join(ROOT, 'tools/scripts/release.ts'), join(context, 'dist')], place);
    },
    /** Builds one of the images of the Dockerfile. Returns its size. */
    async build(target: string, image: string): Promise<string> {
      const flags = ['--pull-never', '--format', 'docker', '--network', 'none', '--target', target, '--tag', image];
      await run(['buildah', 'bud', ...flags, join(folder, 'context')], place);
      const { stdout } = await run(['buildah', 'images', '--json', image], place);
      return (JSON.parse(stdout) as { size: string }[])[0]?.size ?? '';
    },
    /** The arguments of `podman run` that this machine needs. */
    limits: ['--network', 'host', ...LIMITS],
    /** A folder that the user of the images can write to. */
    makeFolder(name: string): string {
      const made = join(folder, name);
      if (!existsSync(made)) mkdirSync(made);
      chownSync(made, USER, USER);
      return made;
    },
    async end(): Promise<void> {
      await podman(['rm', '--force', '--all', '--time', '1']).catch(() => undefined);
      await podman(['volume', 'rm', '--force', '--all']).catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Tools = ReturnType<typeof createTools>;
