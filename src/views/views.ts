import { getHeapStatistics } from 'node:v8';
import { ownVersion } from '@lapel/schemas/base/version';
import { firstEnd } from '../core/authorities/authority-repository.ts';
import type { Core } from '../core/core.ts';
import { countWaiting } from '../core/endpoints/delivery-list-repository.ts';
import { countStates } from '../core/endpoints/endpoint-repository.ts';
import { createFleetSelection } from '../core/selection/fleet-selection.ts';
import { createSelection } from '../core/selection/selection.ts';
import { surveyDue } from '../core/transactions/transaction-repository.ts';
import { surveyPending } from '../core/webhooks/delivery-repository.ts';
import type { ConnectionsHere, Peers } from '../platform/cluster/peers.ts';
import type { Common, Parts } from '../platform/common.ts';
import { inTurn } from '../platform/database/in-turn.ts';
import type { Database } from '../platform/database/sql.ts';
import { daysInMicros } from '../platform/database/sweep.ts';
import type { Certificates } from '../platform/entrance/certificates.ts';
import type { Asking } from '../runtime/current-caller.ts';
import type { Readiness } from '../runtime/readiness.ts';
import { createRemembered } from '../runtime/remembered.ts';
import { createAuditNames } from './audit.ts';
import { createCohorts } from './cohorts.ts';
import { createConsumersNow } from './conditions/consumers-now.ts';
import { createSignWatch } from './conditions/sign-watch.ts';
import { createUsual } from './conditions/usual.ts';
import { createConnectedTimes } from './connected-times.ts';
import { createConnectionView, type LiveConnection } from './connection.ts';
import { createContents } from './contents.ts';
import { createAllDeliveries } from './deliveries.ts';
import { findApplicationOfDelivery } from './delivery-repository.ts';
import { createDeviceSamples } from './device-samples.ts';
import { createFleet } from './devices.ts';
import { createFailureViews } from './failures.ts';
import { createFleetFigures } from './figures.ts';
import { countFailing, countStopped } from './figures-repository.ts';
import { createFleetHistory } from './history.ts';
import { createInstallations } from './installations.ts';
import { type FailingPart, failingParts, stateOfNode } from './node-state.ts';
import { createOwnFleet } from './own-fleet.ts';
import { createReceiverStates } from './receivers.ts';
import { createRolloutViews } from './rollouts.ts';
import { createServiceHistory } from './service-history.ts';
import { createServiceState } from './service-state.ts';
import { createSoftwareOverview } from './software.ts';
import { createStories } from './story.ts';
import { createOverview } from './transactions.ts';

interface Given {
  parts: Parts;
  common: Common;
  peers: Peers;
  core: Core;
  connections: ConnectionsHere & { connectionOf(deviceId: string): LiveConnection | undefined };
  entrances: { certificates: Pick<Certificates, 'list'> };
  readiness: Pick<Readiness, 'problems' | 'notes'>;
  /** The free bytes and the size of the disk of the data folder. */
  disk(): Promise<{ free: number; size: number }>;
  /** Tells for which application the running code works. */
  asking: Asking;
  /** The milliseconds that 99 of 100 of the latest commits did not exceed. */
  commitP99(): number | null;
  /** The entries of the audit log that its receiver does not have yet; undefined without a receiver. */
  auditWaiting: (() => Promise<{ oldestAt: number | null }>) | undefined;
  /** True to record figures of the fleet every ten seconds. */
  keepsHistory: boolean;
  /** Days for which connections and samples of devices are kept, and events; 0: events are kept for ever. */
  kept: { connections: number; samples: number; deliveries: number };
}

export type Views = ReturnType<typeof createViews>;

/**
 * Creates all views. Queries over a whole fleet run on a thread of their own, or, on PostgreSQL, on a connection of
 * their own.
 */
export function createViews({ parts, common, peers, core, connections, asking, ...given }: Given) {
  const { database } = common;
  const { aside } = database;
  const { nodes, ownership } = peers;

  /** Makes the lists of devices, transactions and installations, whose long queries run on the connection `through`. */
  function fleetViews(through: Database['aside']) {
    const { presence, statuses } = core;
    const { connected, connectedIds } = ownership;
    const from = { ...common, database: { read: database.read, aside: through } };
    const selection = createSelection({ ...from, presence, connected });
    const ownFleet = createOwnFleet({ ...from, selection, connected });
    const overview = createOverview({ ...from, versionsOf: statuses.versionsOf });
    return {
      selection,
      ownFleet,
      rolloutViews: createRolloutViews({ ...common, database: { aside: through }, presence, connected }),
      fleet: createFleet({
        ...from,
        presence,
        fleetSelection: createFleetSelection({ ...from, presence, selection }),
        connected,
        connectedIds,
      }),
      overview,
      stories: createStories({ ...from, overview, auditNames: createAuditNames(from) }),
      installations: createInstallations(from),
    };
  }

  const times = createConnectedTimes({ ...common, connected: ownership.connected, keptDays: given.kept.connections });
  const ofSamples = {
    ...common,
    times,
    fleetSelection: createFleetSelection({
      ...common,
      presence: core.presence,
      selection: createSelection({ ...common, presence: core.presence, connected: ownership.connected }),
    }),
  };

  const remembered = createRemembered(common);
  const receivers = createReceiverStates({ ...common, remembered, urls: core.applications.settingsOfAll });
  const figures = createFleetFigures({
    ...common,
    remembered,
    connected: () =>
      nodes.count() > 1
        ? remembered('connected', async () => ownership.connectedCount())
        : connections.connectedCount(),
    receivers: receivers.counts,
  });
  const history = parts.add(
    createFleetHistory({
      ...common,
      remembered,
      nodeId: nodes.id,
      leads: nodes.leads,
      connectedHere: connections.connectedCount,
      isOn: given.keepsHistory,
    }),
  );

  const { certificates } = given.entrances;
  const keptMicros = daysInMicros(given.kept.deliveries);
  const consumersNow = createConsumersNow({ ...common, keptMicros, leads: nodes.leads });
  const signs = parts.add(
    createSignWatch({
      ...common,
      isOn: given.keepsHistory,
      async own() {
        const secondsSince = (at: number | null | undefined): number =>
          at ? (common.clock.now() - at) / 1_000_000 : 0;
        const loopDelay = history.loopDelay();
        const leads = nodes.leads();
        const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics();
        return {
          silentSeconds: secondsSince(core.transactions.oldestInFlight()),
          commitP99Ms: given.commitP99(),
          loopP99Ms: loopDelay === null ? null : loopDelay / 1000,
          heapShare: used / most,
          leads,
          consumers: await consumersNow(),
          auditWaitsSeconds: leads ? secondsSince((await given.auditWaiting?.())?.oldestAt) : 0,
        };
      },
    }),
  );
  const state = (failing: readonly FailingPart[]) =>
    stateOfNode({
      ...common,
      version: ownVersion(),
      certificates: certificates.list,
      disk: given.disk,
      signs: signs.found,
      parts: failing,
    });
  const serviceHistory = parts.add(
    createServiceHistory({
      ...common,
      remembered,
      nodeId: nodes.id,
      state: async () => state(await failingParts(given.readiness)),
      isOn: given.keepsHistory,
    }),
  );

  return {
    /** The views for administration, which sees all applications. */
    ofFleet: fleetViews(aside),
    /**
     * The views for applications. Only one query of all applications runs at a time, so that queries of the operator
     * need not wait for many.
     */
    ofApplications: fleetViews(inTurn(aside, asking.whose)),
    receivers,
    figures,
    history,
    serviceHistory,
    serviceState: createServiceState({
      ...common,
      remembered,
      nodeId: nodes.id,
      known: peers.known,
      state: () => state([]), // the caller adds the parts of this node, as they are now
      connectedHere: connections.connectedCount,
      startedAt: common.clock.now(),
      figures: figures.summary,
      usual: createUsual({ ...common, aside }),
      stoppedRollouts: () => countStopped(aside),
    }),
    signs: signs.known,
    failures: createFailureViews(common),
    deviceSamples: createDeviceSamples(ofSamples),
    cohorts: createCohorts(ofSamples),
    sampleDays: given.kept.samples,
    countContents: createContents({ database, quotas: core.quotas, connected: ownership.connected }),
    vitals: { commitP99: given.commitP99, nodes: nodes.count },
    softwareOverview: createSoftwareOverview({ ...common, objects: core.objects.store, ...core.software }),
    auditNames: createAuditNames(common),
    deliveries: createAllDeliveries(common),
    findDelivery: (deliveryId: string) => findApplicationOfDelivery(aside, deliveryId),
    connection: createConnectionView({ database, live: connections.connectionOf, nodeOf: ownership.nodeOf }),
    /** The functions that look up values for the metrics of queues and sizes. */
    surveyed: {
      due: () => surveyDue(aside),
      pending: () => surveyPending(aside),
      databaseSize: database.size,
      cluster: peers.vitals,
      objects: core.objects.usage,
      oldestInFlight: core.transactions.oldestInFlight,
      failing: () => countFailing(aside),
      endpoints: () => countStates(aside),
      endpointDeliveries: () => countWaiting(aside),
      deviceCaEnd: () => firstEnd(aside),
    },
  };
}
