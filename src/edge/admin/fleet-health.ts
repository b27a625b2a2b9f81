import type { AlarmList, FleetHealth, NodeList } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { nothingYet, operationsOf, routesOf, STEPS, sumOf, timesOfStep } from '../../views/service-figures.ts';
import type { NodeView } from '../../views/service-state.ts';
import { momentOf } from '../http/moment.ts';
import type { Answer } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'serviceHistory' | 'figures' | 'serviceState' | 'readiness' | 'clock'>;

/** Shows the steps of commands and the answers of the API in a period, and how many wait for each step now. */
export async function readFleetHealth(
  { serviceHistory, figures }: Services,
  { query }: At<never, never, 'admin/fleet-health-query'>,
): Promise<Answer> {
  const [{ since, stepSeconds, points }, waiting] = await Promise.all([
    serviceHistory.list(momentOf(query, 'since'), query.step),
    figures.waiting(),
  ]);
  const all = points.reduce((sum, point) => sumOf(sum, point.figures), nothingYet());
  const body: FleetHealth = {
    since: toUtc(since),
    stepSeconds,
    accepted: all.accepted,
    steps: STEPS.map((step) => ({ step, waiting: waiting[step], ...timesOfStep(all, step) })),
    routes: routesOf(all),
    operations: operationsOf(all),
    points: points.map(({ at, figures: of }) => {
      const routes = Object.values(of.routes);
      return {
        at: toUtc(at),
        accepted: of.accepted,
        requests: routes.reduce((sum, { requests }) => sum + requests, 0),
        failed: routes.reduce((sum, { failed }) => sum + failed, 0),
        published: timesOfStep(of, 'published'),
        received: timesOfStep(of, 'received'),
        answered: timesOfStep(of, 'answered'),
        delivered: timesOfStep(of, 'delivered'),
      };
    }),
  };
  return { status: 200, body };
}

/** Lists what must be mended, with the verdict on the whole. */
export async function listAlarms({ serviceState, readiness, clock }: Services): Promise<Answer> {
  const { alarms, verdict } = await serviceState.alarms(await readiness.problems(), readiness.notes());
  const body: AlarmList = { at: toUtc(clock.now()), verdict, alarms };
  return { status: 200, body };
}

const DAY_SECONDS = 86_400;

function nodeRow({ state, isMissing, disk, fullAt, ...node }: NodeView, now: number): NodeList['nodes'][number] {
  return {
    nodeId: node.nodeId,
    isSelf: node.isSelf,
    state: isMissing ? 'missing' : 'alive',
    version: node.version,
    startedAt: toUtc(node.startedAt),
    devices: node.devices,
    leaseSeconds: node.leaseSeconds === null ? null : Math.round(node.leaseSeconds * 10) / 10,
    databaseCheck: state?.databaseCheck ?? null,
    certificates: (state?.certificates ?? []).map(({ listener, file, expires }) => ({
      listener,
      file,
      expiresAt: toUtc(expires * 1_000_000),
      daysLeft: Math.floor((expires - now / 1_000_000) / DAY_SECONDS),
    })),
    disk: state?.disk
      ? {
          freeBytes: state.disk.free,
          sizeBytes: state.disk.size,
          fullAt: utcOrNull(fullAt),
          points: disk.map(({ at, free }) => ({ at: toUtc(at), freeBytes: free })),
        }
      : null,
  };
}

/** Lists the nodes, with their disks and certificates. */
export async function listNodes({ serviceState, clock }: Services): Promise<Answer> {
  const now = clock.now();
  const body: NodeList = { at: toUtc(now), nodes: (await serviceState.nodes()).map((node) => nodeRow(node, now)) };
  return { status: 200, body };
}
