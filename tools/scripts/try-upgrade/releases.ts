import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkLibraries } from '../../harness/link-libraries.ts';
import { ROOT } from '../release/lockfile.ts';
import { run } from '../trial/programs.ts';

/** npm's program: npm runs this script. */
const NPM = process.env['npm_execpath'] ?? '';

/** A change as the next release may make it: nodes of the release before go on with it. */
const MIGRATION = `-- Each statement is a commit of its own.
-- Only on SQLite.
ALTER TABLE transactions ADD COLUMN tried_upgrade INTEGER NOT NULL DEFAULT 0;

-- Only on PostgreSQL.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS tried_upgrade INTEGER NOT NULL DEFAULT 0;

CREATE INDEX IF NOT EXISTS transactions_tried_upgrade ON transactions (tried_upgrade, transaction_id);
CREATE TABLE IF NOT EXISTS upgrades_tried (name TEXT PRIMARY KEY);
`;

/** A release that is installed from its tarball. */
export interface Installed {
  /** The folder of its programs. */
  bin: string;
  /** The number of its newest migration. */
  schema: number;
}

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** The commit of a name, such as `HEAD~1`. */
export const commitOf = (name: string): string => git('rev-parse', '--verify', `${name}^{commit}`);

/**
 * Makes the tarball of a commit in a working tree of its own, and installs it into an own folder, without a registry.
 * `changed` takes the sources of this checkout, committed or not, with one migration more than they have.
 */
export async function installRelease(folder: string, commit: string, changed: boolean): Promise<Installed> {
  const tree = join(folder, 'tree');
  mkdirSync(folder);
  git('worktree', 'add', '--quiet', '--detach', tree, commit);
  try {
    linkLibraries(ROOT, tree);
    const migrations = join(tree, 'src/platform/database/migrations');
    if (changed) {
      rmSync(join(tree, 'src'), { recursive: true });
      cpSync(join(ROOT, 'src'), join(tree, 'src'), { recursive: true });
      const next = String(1 + newest(migrations)).padStart(4, '0');
      writeFileSync(join(migrations, `${next}-try-upgrade.sql`), MIGRATION);
    }
    const made = join(folder, 'made');
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, npm_execpath: NPM };
    // The folder was called scripts before the tree had packages.
    const script = ['tools/scripts', 'scripts'].map((path) => join(tree, path, 'release.ts')).find(existsSync) ?? '';
    await run([process.execPath, '--disable-warning=ExperimentalWarning', script, made], {
      env,
      cwd: tree,
    });
    const [archive] = readdirSync(made).filter((name) => /^lapel-\d.*\.tgz$/.test(name));
    const prefix = join(folder, 'prefix');
    await run(
      [process.execPath, NPM, 'install', '--global', '--offline', '--prefix', prefix, join(made, archive ?? '')],
      { env, cwd: folder },
    );
    return { bin: join(prefix, 'bin'), schema: newest(migrations) };
  } finally {
    git('worktree', 'remove', '--force', tree);
  }
}

const newest = (migrations: string): number =>
  Math.max(...readdirSync(migrations).map((name) => Number(/^(\d{4})-/.exec(name)?.[1] ?? 0)));
