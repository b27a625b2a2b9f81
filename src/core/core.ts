import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import type { Fault } from '@lapel/schemas/contracts/errors';
import type { Config } from '../config.ts';
import type { Peers } from '../platform/cluster/peers.ts';
import type { Common, Parts } from '../platform/common.ts';
import { daysInMicros, type Sweep } from '../platform/database/sweep.ts';
import type { Entrances } from '../platform/entrance/entrance.ts';
import { openObjects } from '../platform/objects/open-objects.ts';
import type { createOwners } from '../runtime/device-owners.ts';
import { createHeldRollouts } from '../runtime/held-rollouts.ts';
import { createLogLimit } from '../runtime/log-limit.ts';
import { createApplications } from './applications/applications.ts';
import type { Clearing } from './applications/clearing.ts';
import { createDevelopers } from './applications/developers.ts';
import type { Audit } from './audit/audit.ts';
import { auditSweep } from './audit/audit-sweep.ts';
import { createAuthorities } from './authorities/authorities.ts';
import { createAuthorityEndings } from './authorities/authority-endings.ts';
import { deleteAuthoritiesOf } from './authorities/authority-repository.ts';
import { actionSweep } from './device-actions/action-sweep.ts';
import { createDeviceActions } from './device-actions/device-actions.ts';
import { connectionClearing, deviceClearing } from './devices/device-clearing.ts';
import type { Revoke } from './devices/device-credentials.ts';
import { hasActivatedDevice, hasDevices } from './devices/device-repository.ts';
import { createDevices } from './devices/devices.ts';
import { removeNotes } from './devices/note-repository.ts';
import { createNotes } from './devices/notes.ts';
import { deleteSamples } from './devices/sample-repository.ts';
import { sampleSweep } from './devices/sample-sweep.ts';
import { forgetSettings } from './devices/setting-repository.ts';
import { createStatuses } from './devices/statuses.ts';
import { removeTags } from './devices/tag-repository.ts';
import { createTags } from './devices/tags.ts';
import { createEndpointParts } from './endpoints/endpoint-parts.ts';
import { forgetEndpoints } from './endpoints/endpoint-repository.ts';
import { endpointClearing, endpointSweep } from './endpoints/endpoint-sweep.ts';
import { createBatches } from './enrolments/batches.ts';
import { enrolmentClearing } from './enrolments/enrolment-clearing.ts';
import { enrolmentSweep } from './enrolments/enrolment-sweep.ts';
import { createEnrolments } from './enrolments/enrolments.ts';
import { createRefusals } from './enrolments/refusals.ts';
import { createRenewals } from './enrolments/renewals.ts';
import { createAnswering } from './events/answering.ts';
import { createDeviceEvents } from './events/device-events.ts';
import { createEventBytes } from './events/event-bytes.ts';
import { deleteEvents } from './events/event-repository.ts';
import { eventSweep } from './events/event-sweep.ts';
import { deleteMembersOf } from './people/member-repository.ts';
import { createMembers } from './people/members.ts';
import { removalSweep } from './removals/removal-sweep.ts';
import { createRemovals } from './removals/removals.ts';
import { deleteRequests } from './requests/request-repository.ts';
import { requestSweep } from './requests/request-sweep.ts';
import { createRolloutNotes } from './rollouts/notes.ts';
import { createResults } from './rollouts/results.ts';
import { rolloutClearing } from './rollouts/rollout-clearing.ts';
import { rolloutSweep } from './rollouts/rollout-sweep.ts';
import { createRollouts } from './rollouts/rollouts.ts';
import { forgetTaken, keepTaken } from './rollouts/taken-settings.ts';
import { createTransitions } from './rollouts/transitions.ts';
import { createFleetSelection } from './selection/fleet-selection.ts';
import { createSelection } from './selection/selection.ts';
import { createConnectionLog } from './sessions/connection-log.ts';
import { deleteFacts } from './sessions/connection-log-repository.ts';
import { connectionSweep } from './sessions/connection-sweep.ts';
import { createNodeLives } from './sessions/node-lives.ts';
import { createPresence } from './sessions/presence.ts';
import { createSessions } from './sessions/sessions.ts';
import { aboutObjects } from './software/owner.ts';
import { hasPackages } from './software/package-repository.ts';
import { createQuotas } from './software/quotas.ts';
import { deleteKeysOf } from './software/signature-repository.ts';
import { createSoftware } from './software/software.ts';
import { packageClearing, versionClearing } from './software/software-clearing.ts';
import { forgetUsage } from './software/usage-repository.ts';
import { forgetStream } from './stream/consumer-repository.ts';
import { createConsumers } from './stream/consumers.ts';
import { createStream } from './stream/stream.ts';
import { idempotencyClearing } from './transactions/idempotency-clearing.ts';
import { idempotencySweep } from './transactions/idempotency-sweep.ts';
import { createResultEvent } from './transactions/result-event.ts';
import { dropDue, transactionClearing } from './transactions/transaction-clearing.ts';
import { transactionSweep } from './transactions/transaction-sweep.ts';
import { createTransactions } from './transactions/transactions.ts';
import { deliveryClearing, forgetReceivers } from './webhooks/delivery-clearing.ts';
import { createKeptConnections } from './webhooks/http/kept-connections.ts';
import { createDeliveryLog } from './webhooks/log/delivery-log.ts';
import { deliverySweep } from './webhooks/log/delivery-sweep.ts';
import { findPendingTransactions } from './webhooks/log/delivery-sweep-repository.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

interface Given {
  entrances: Entrances;
  parts: Parts;
  config: Config;
  peers: Peers;
  common: Common;
  owners: ReturnType<typeof createOwners>;
  deprecations: Deprecations;
  /** Returns the reason why a webhook may not go to this URL; undefined when it may. */
  urlFault(url: string, name: string): Fault | undefined;
  revoke: Revoke;
  /** Closes the connection of a device to this node, if it has one. */
  disconnect(deviceId: string): void;
  /**
   * Called when an application was changed, by this node or another one, so that its open streams can be checked.
   * Without an `applicationId`, all streams are checked.
   */
  forgotten(applicationId?: string): void;
  /** The URLs of the console, whose pages may upload to the embedded store. */
  consoleUrls(): readonly string[];
  audit: Pick<Audit, 'noted' | 'noteIn'>;
  /** The factor by which the pauses of removals are longer than the steps before them. */
  pauseFactor?: number;
}

export type Core = Awaited<ReturnType<typeof createCore>>;

/** Makes and connects the parts of the core, and registers the parts that must be stopped with the service. */
export async function createCore(given: Given) {
  const { parts, config, peers, common, owners, deprecations, urlFault } = given;
  const { allowHttpWebhooks: allowHttp, webhookAllowPrivate: allowPrivate } = config;

  const developers = createDevelopers({
    ...common,
    isInUse: async (unit, id) => (await hasDevices(unit, id)) || (await hasPackages(unit, id)),
    forgetUsage,
    async forgetKeys(unit, developerId) {
      await deleteKeysOf(unit, developerId);
      await deleteMembersOf(unit, developerId);
      await deleteAuthoritiesOf(unit, developerId);
    },
  });
  const members = createMembers({
    ...common,
    requireDeveloper: developers.find,
    requireStaying: developers.findStaying,
    ended() {
      given.forgotten();
      peers.bus.broadcast({ kind: 'people', about: 'members' });
    },
  });
  const applications = createApplications({
    certificateMethods: given.entrances.clientCertificates.methods,
    ...common,
    urlFault,
    isInUse: hasActivatedDevice,
    endWork: (unit, id) => rollouts.endAll(unit, id),
    async forgetReceivers(unit, id) {
      await forgetReceivers(unit, id);
      await forgetStream(unit, id);
      await forgetEndpoints(unit, id);
    },
    changed: (about) => peers.bus.broadcast({ kind: 'changed', about }),
    forgotten: given.forgotten,
  });
  peers.bus.on('changed', applications.changedElsewhere);
  peers.bus.onGap(applications.changedElsewhere);
  const findApplication = applications.findIn;
  const kept = createKeptConnections({ ...common, most: config.files.shares.kept });
  const sending = { allowPrivate, direct: config.webhookDirect, kept };
  const stream = createStream(common);
  const consumers = createConsumers({
    ...common,
    keptMicros: daysInMicros(config.retention.deliveries),
    lockApplication: applications.lockIn,
  });
  const pushed = createEndpointParts({
    common,
    stream,
    share: peers.partitions,
    webhooks: () => webhooks,
    urlFault,
    lockApplication: applications.lockIn,
  });
  const webhooks = parts.add(
    createWebhooks({
      ...common,
      appended: stream.appended,
      ...sending,
      endpointOf: pushed.endpointOf(applications.endpointOf),
      endpoints: pushed.receivers,
      findApplication,
      share: peers.partitions,
      held: config.webhooksHeld,
    }),
  );
  const quotas = createQuotas({ ...common, limits: config.quotas });
  const ofObjects = { ...aboutObjects(common.database.read), admits: quotas.admits };
  const objects = parts.add(
    await openObjects({
      ...common,
      ...ofObjects,
      config,
      pages: given.consoleUrls,
      vault: common.database.read.vault,
      entrance: given.entrances.of('objects'),
    }),
  );
  const software = parts.add(
    createSoftware({
      ...common,
      quotas,
      objects: objects.store,
      reservedPrefix: config.reservedPackagePrefix,
      unavailable: () => rollouts.unavailable(),
    }),
  );
  const { connected } = peers.ownership;
  const held = createHeldRollouts(common.clock, (rolloutId) => transactions.released(rolloutId));
  const rolloutOf = (about: string): string => about.split(' ', 1)[0] ?? '';
  peers.bus.on('held', (about) => held.hold(rolloutOf(about)));
  peers.bus.on('released', (about) => held.release(rolloutOf(about)));
  const wake = (rolloutId: string): void => rollouts.wake(rolloutId);
  const transitions = createTransitions({
    ...common,
    findApplication,
    record: webhooks.record,
    held,
    tell: (about, isHeld) => peers.bus.broadcast({ kind: isHeld ? 'held' : 'released', about }),
    noted: createRolloutNotes(given.audit),
    wake,
  });
  const results = createResults({ ...common, transitions, wake, provisional: () => rollouts.provisional() });
  const transactions = parts.add(
    createTransactions({
      ...common,
      onFinished: [createResultEvent(webhooks.record), results.onFinished, keepTaken],
      onLate: [results.onLate, forgetTaken],
      held,
      heldBack: (rolloutId, deviceId) => rollouts.wants(rolloutId, deviceId),
      findApplication,
      lockApplication: applications.lockIn,
      installs: software.installs,
      ownership: peers.ownership,
      leads: peers.nodes.leads,
    }),
  );
  const sessions = createSessions(common);
  const presence = parts.add(createPresence(common));
  const keptDays = config.retention.connections;
  const { nodeId } = parts.add(createNodeLives({ ...common, cluster: peers.cluster, keptDays }));
  const connectionLog = parts.add(createConnectionLog({ ...common, nodeId }));
  const ofDevelopers = { requireDeveloper: developers.find, requireStaying: developers.findStaying };
  const devices = createDevices({
    ...common,
    owners,
    ...ofDevelopers,
    revoke: given.revoke,
    forgetting: [
      sessions.remove,
      presence.remove,
      deleteEvents,
      removeTags,
      forgetSettings,
      removeNotes,
      deleteFacts,
      deleteSamples,
    ],
    forgetRequests: deleteRequests,
    removed: peers.ownership.remove,
    endTransactions: transactions.endAll,
    dropDue,
  });
  const refusals = parts.add(createRefusals({ ...common, audit: given.audit, logLimit: createLogLimit(common) }));
  const endings = parts.add(createAuthorityEndings({ ...common, bus: peers.bus, disconnect: given.disconnect }));
  const authorities = createAuthorities({ ...common, ...ofDevelopers, revoked: endings.end });
  const ofCertificates = { authorities, deviceCertificates: config.mqtt.deviceCertificates };
  const enrolments = createEnrolments({ ...common, ...ofDevelopers, ...ofCertificates, audit: given.audit, refusals });
  const renewals = createRenewals({ ...common, ...ofCertificates, audit: given.audit, refusals });
  const enrolmentBatches = createBatches({
    ...common,
    ...ofDevelopers,
    ...ofCertificates,
    areClaims: given.entrances.clientCertificates.areClaims,
  });
  const sampleDays = config.retention.samples;
  const statuses = createStatuses({ ...common, presence, connected, keepsSamples: sampleDays > 0 });
  const selection = createSelection({ ...common, presence, connected });
  const tags = createTags(common);
  const notes = createNotes(common);
  const rollouts = parts.add(
    createRollouts({
      ...common,
      leads: peers.nodes.leads,
      connected,
      findApplication,
      lockApplication: applications.lockIn,
      transactions,
      transitions,
      confirm: results.confirm,
      presence,
      statuses,
      selection,
      installs: software.installs,
    }),
  );
  const deviceActions = parts.add(
    createDeviceActions({
      ...common,
      mostDevices: config.deviceActionLimit,
      leads: peers.nodes.leads,
      audit: given.audit,
      fleetSelection: createFleetSelection({ ...common, presence, selection }),
      devices,
      tags,
      transactions,
    }),
  );
  const { device: deviceMebibytes, application: applicationMebibytes } = config.eventMebibytes;
  const bytes = createEventBytes({ ...common, deviceMebibytes, applicationMebibytes, nodes: peers.nodes.count });
  const events = createDeviceEvents({ ...common, deprecations, findApplication, record: webhooks.record, bytes });
  const requests = parts.add(
    createAnswering({ ...common, ...events, ...transactions, ...sending, findApplication, allowHttp }),
  );
  const deliveryLog = createDeliveryLog({ ...common, webhooks, throttle: transactions.throttle, findApplication });

  const removals = parts.add(
    createRemovals({
      ...common,
      ...(given.pauseFactor !== undefined && { pauseFactor: given.pauseFactor }),
      leads: peers.nodes.leads,
      developers,
      applications,
      audit: given.audit,
      clearings: [
        connectionClearing({ connected, revoke: given.revoke }),
        deviceClearing(devices),
        enrolmentClearing(),
        rolloutClearing(),
        transactionClearing(),
        endpointClearing(),
        deliveryClearing(),
        idempotencyClearing(),
        versionClearing({ ...common, objects: objects.store, quotas }),
        packageClearing({ quotas }),
      ] as readonly Clearing[],
    }),
  );

  /** The sweeps that remove expired rows. */
  const sweeps: Sweep[] = [
    deliverySweep({ keptDays: config.retention.deliveries }),
    endpointSweep({ keptDays: config.retention.deliveries }),
    transactionSweep({ keptDays: config.retention.transactions, pendingBefore: findPendingTransactions }),
    rolloutSweep({ keptDays: config.retention.transactions }),
    actionSweep({ keptDays: config.retention.audit }),
    eventSweep(),
    requestSweep(),
    idempotencySweep(),
    auditSweep({ keptDays: config.retention.audit }),
    connectionSweep({ keptDays }),
    sampleSweep({ keptDays: sampleDays }),
    removalSweep({ keptDays: config.retention.audit }),
    enrolmentSweep({ keptDays: config.retention.audit }),
  ];

  return {
    applications,
    members,
    developers,
    devices,
    tags,
    notes,
    deviceActions,
    enrolments,
    enrolmentBatches,
    renewals,
    authorities,
    statuses,
    software,
    quotas,
    objects,
    transactions,
    rollouts,
    sessions,
    presence,
    connectionLog,
    webhooks,
    stream,
    consumers,
    endpoints: pushed.endpoints,
    replays: pushed.replays,
    feeding: pushed.feeding,
    deliveryLog,
    events,
    requests,
    removals,
    sweeps,
    /** The searches for what is due and moved by nobody. */
    slowLooks: [...transactions.slowLooks, ...requests.slowLooks, webhooks.slowLook, rollouts.slowLook],
  };
}
