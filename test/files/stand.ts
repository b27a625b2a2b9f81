import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { type Run, run } from '../cli/run.ts';
import { startWorld, type Tenant, type World } from '../world.ts';

type Surroundings = Parameters<typeof run>[1];

/** A world with a tenant, and a folder of files for it. */
export interface Stand {
  world: World;
  tenant: Tenant;
  folder: string;
  /** The environment of the commands, with the accounts of the tenant and of administration. */
  env: Record<string, string>;
  /** Replaces files of the folder. */
  write(files: Readonly<Record<string, string>>): void;
  lapel(line: string, surroundings?: Surroundings): Promise<Run>;
  /** The plan of the folder, as JSON, with its exit code. */
  plan(): Promise<PlanRun>;
  apply(surroundings?: Surroundings): Promise<Run>;
}

export interface PlanRun {
  code: number;
  steps: {
    kind: string;
    name: string;
    action: string;
    changes: { field: string; before: unknown; after: unknown }[];
  }[];
  refused: { kind: string; name: string; reason: string }[];
  notCompared: { kind: string; name: string; field: string; reason: string }[];
  notTouched: { kind: string; count: number; names: string[] }[];
  unchanged: number;
}

/** Starts a service and a tenant with an empty folder of files. */
export async function standOf(t: Test): Promise<Stand> {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  return standIn(t, world, tenant);
}

/** The data of the service are in the folder of the test, which a second call of t.testdir() would empty. */
function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-files-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A folder of files for a tenant of a world. */
export function standIn(t: Test, world: World, tenant: Tenant): Stand {
  const folder = newFolder(t);
  const env: Record<string, string> = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    LAPEL_ADMIN_URL: world.service.addresses.admin,
    LAPEL_ADMIN_TOKEN: world.service.adminToken,
    NO_COLOR: '1',
  };
  const lapel = (line: string, { env: more = {}, ...rest }: NonNullable<Surroundings> = {}): Promise<Run> =>
    run(line.split(' '), { columns: 200, ...rest, env: { ...env, ...more } });
  return {
    world,
    tenant,
    folder,
    env,
    lapel,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
    },
    async plan() {
      const { code, stdout, stderr } = await lapel(`plan -f ${folder} --json`);
      if (!stdout.startsWith('{')) throw new Error(`${code}: ${stderr}`);
      return { code, ...JSON.parse(stdout) };
    },
    apply: (surroundings) => lapel(`apply -f ${folder} --yes`, surroundings),
  };
}
