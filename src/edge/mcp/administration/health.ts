import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { time } from '../times.ts';
import { tool } from '../tool.ts';

const GIB = 1024 ** 3;

export const access = tool<object>({
  name: 'access',
  title: 'Whose token is this?',
  description: 'Whose token or account is this, and what may it do (role: reader, support, operator, owner)?',
  properties: {},
  async run(session, _, report) {
    const { role, personId, name, token } = await session.ask<SchemaTypes['admin/caller']>('readCaller');
    report.say(
      personId === null
        ? 'The administrator token, which belongs to nobody.'
        : `The person ${personId} ${data(name, 80)}, with the token ${data(token, 60)}.`,
      `Role: ${role}. Local times of the service are in ${session.zone}.`,
    );
  },
});

export const health = tool<object>({
  name: 'health',
  title: 'Is the service healthy?',
  description:
    'Is the service healthy, is anything wrong, which alarms are there? The verdict, alarms, nodes, devices online, waiting commands and webhooks, failing receivers, and how fast commits and the event loop are.',
  properties: {},
  async run(session, _, report) {
    const { verdict, alarms, at } = await session.ask<SchemaTypes['admin/alarm-list']>('listAlarms');
    const now = await session.ask<SchemaTypes['admin/fleet-summary']>('readSummary');
    report.say(`${time(at)}: ${verdict.state}. ${data(verdict.text, 300)}`);
    for (const { level, kind, text, nodeId } of alarms) {
      report.say(`- ${level} ${kind}${nodeId === null ? '' : ` at node ${data(nodeId, 40)}`}: ${data(text, 240)}`);
    }
    const { devices, transactions, deliveries, receivers } = now;
    report.say(
      alarms.length === 0 && 'There is no alarm.',
      `${devices.total} devices, ${devices.activated} activated, ${devices.connected} connected.`,
      `${transactions.unfinished} commands are unfinished, the oldest since ${time(transactions.oldestAt)}.`,
      `${deliveries.pending} webhooks are pending, the first is due since ${time(deliveries.oldestDueAt)}.`,
      `${receivers.failing} receivers fail, ${receivers.slow} are slow.`,
      `Commits: 99 of 100 within ${now.commitP99Ms ?? 'unknown'} ms; event loop late by ${now.loopP99Ms ?? 'unknown'} ms. ${now.nodes} nodes, version ${now.version}.`,
      `Console: ${session.link()}`,
    );
  },
});

export const endsSoon = tool<object>({
  name: 'ends_soon',
  title: 'What ends soon?',
  description:
    'What ends, expires or fills up soon? Certificates of the listeners, disks that get full, leases of nodes, keys that sign tokens, and people whose sign-in has ended.',
  properties: {},
  async run(session, _, report) {
    const { nodes } = await session.ask<SchemaTypes['admin/node-list']>('listNodes');
    const { keys } = await session.ask<SchemaTypes['admin/signing-key-list']>('listSigningKeys');
    const { people } = await session.ask<SchemaTypes['admin/person-list']>('listPeople', { query: { limit: 200 } });
    const { alarms } = await session.ask<SchemaTypes['admin/alarm-list']>('listAlarms');
    for (const { nodeId, state, version, certificates, disk } of nodes) {
      report.say(`Node ${data(nodeId ?? 'alone', 40)}: ${state}, version ${version}.`);
      for (const { listener, file, expiresAt, daysLeft } of certificates) {
        report.say(`- the ${file} of ${listener} ends ${time(expiresAt)}, in ${daysLeft} days`);
      }
      if (certificates.length === 0) report.say('- it has no certificates that end');
      if (disk) {
        const full = disk.fullAt === null ? 'it does not fill' : `full ${time(disk.fullAt)} at the present pace`;
        report.say(
          `- disk: ${(disk.freeBytes / GIB).toFixed(1)} GiB free of ${(disk.sizeBytes / GIB).toFixed(1)} GiB, ${full}`,
        );
      }
    }
    for (const { keyId, state, createdAt } of keys)
      report.say(`Signing key ${keyId}: ${state}, made ${time(createdAt)}.`);
    const out = people.filter(({ disabled, tokens, login }) => disabled || (tokens === 0 && login === null));
    for (const { personId, name, disabled } of out) {
      report.say(`${personId} ${data(name, 60)} cannot sign in: ${disabled ? 'disabled' : 'no valid token'}.`);
    }
    const ending = alarms.filter(({ kind }) => ['certificate', 'disk', 'people', 'retention'].includes(kind));
    for (const { level, text } of ending) report.say(`- ${level}: ${data(text, 240)}`);
    report.say(ending.length === 0 && 'No alarm speaks of an end.', `Console: ${session.link('health')}`);
  },
});
