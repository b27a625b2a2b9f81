import type { Test } from 'tap';
import type { CheckedAnswer, CheckedClient } from '../contract/checked-client.ts';
import { startWorld } from '../world.ts';

export const CAMERA = 'com.example.camera';

/** The start of `createFakeClock`, in the time zone of the tests. */
export const NOW = '2026-11-20T18:30:00.123456';

type WorldOptions = Parameters<typeof startWorld>[1];

/** A developer with two applications, another developer, and helpers for software. */
export async function startSoftware(t: Test, options: WorldOptions = {}) {
  const world = await startWorld(t, options);
  const tenant = await world.createTenant();
  const other = await world.createTenant('other');
  const made = await world.admin().post('/admin/v1/developers/dev/applications', {
    json: { applicationId: 'dev-second', name: 'second' },
  });
  const second = {
    api: await world.clientOf(made.body.applicationId, made.body.secret),
    path: `/v1/applications/${made.body.applicationId}`,
  };
  const { api, path } = tenant;
  const versionPath = (name: string, version: string): string =>
    `${path}/packages/${name}/versions/${encodeURIComponent(version)}`;

  /** Registers a package (op 13) and its versions (op 17). */
  async function register(name: string, ...versions: string[]): Promise<void> {
    t.equal((await api.post(`${path}/packages`, { json: { package: name } })).status, 201, name);
    for (const version of versions) {
      const answer = await api.post(`${path}/packages/${name}/versions`, { json: { version } });
      t.equal(answer.status, 201, `${name} ${version}`);
    }
  }

  /** Sends a binary to the first URL of an upload URL result. */
  async function put({ body }: CheckedAnswer, content: string): Promise<number> {
    const [{ uploadUrl }] = body.urlList;
    const answer = await fetch(uploadUrl, { method: 'PUT', body: content });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** Asks for an upload URL (op 22), and sends the binary to it. */
  async function upload(name: string, version: string, content = 'binary'): Promise<void> {
    t.equal(await put(await api.post(`${versionPath(name, version)}/binaries`), content), 200, 'uploaded');
  }

  return { world, tenant, other, second, api, path, versionPath, register, put, upload };
}

/** Follows the `Link` headers of a list; returns the results of `read` on all pages. */
export async function allPages<Row>(
  api: CheckedClient,
  target: string,
  read: (body: CheckedAnswer['body']) => Row[],
): Promise<{ rows: Row[]; pages: number }> {
  const rows: Row[] = [];
  let pages = 0;
  for (let next: string | undefined = target; next !== undefined; pages += 1) {
    const { body, headers }: CheckedAnswer = await api.get(next);
    rows.push(...read(body));
    const url = /^<([^>]+)>; rel="next"$/.exec(String(headers['link']))?.[1];
    next = url === undefined ? undefined : new URL(url).pathname + new URL(url).search;
  }
  return { rows, pages };
}
