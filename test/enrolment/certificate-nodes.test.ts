import t from 'tap';
import { skip as skipped } from '../broker/authority.ts';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { deviceIdOf } from '../world.ts';
import { startIssuing } from './issuing-world.ts';

const skip = NO_POSTGRES || skipped;

t.test('a revoked device CA ends its certificates at both nodes', { ...(skip && { skip }) }, async (t) => {
  let isLost = false;
  const issuing = await startIssuing(t, {
    nodes: 2,
    cluster: () => ({ loses: ({ kind }) => isLost && kind === 'authority' }),
  });
  const { world, admin, batch, makeAuthority, login, enrolled } = issuing;
  for (const lost of [false, true]) {
    isLost = lost;
    const { authorityId } = await makeAuthority();
    const { code } = await batch({ authorityId });
    const [one, other] = [deviceIdOf(lost ? 8101 : 8001), deviceIdOf(lost ? 8102 : 8002)];
    const [shown, shownByOther] = [await enrolled(one, code), await enrolled(other, code)];
    const links = [await login(one, shown), await login(other, shownByOther, { node: 1 })] as const;
    t.same(
      links.map((found) => found.code),
      [0, 0],
    );
    t.match((await admin.post(`/admin/v1/device-authorities/${authorityId}/revoke`)).body, { devices: 2 });
    await links[0].link.closed;
    if (lost) world.clock.advance(10_000);
    await links[1].link.closed;
    for (const node of [0, 1]) {
      t.equal((await login(one, shown, { node })).code, 4);
      t.equal((await login(other, shownByOther, { node })).code, 4);
    }
  }
});
