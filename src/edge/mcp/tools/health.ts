import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { time } from '../times.ts';
import { tool } from '../tool.ts';
import { hostOf } from './webhooks.ts';

type Access = SchemaTypes['rest/own-access'];
type Rollouts = SchemaTypes['common/rollout-row-list'];

/** A token that ends within this time is said. */
const SOON_MICROS = 30 * 86_400_000_000;

const soon = (at: string, now: number): boolean => Date.parse(at) * 1000 - now < SOON_MICROS;

export const access = tool<object>({
  name: 'access',
  title: 'Whose token is this?',
  description:
    'Whose token, account or application is this, what may it do (scopes, role: read or write), until when is it valid, and in which time zone does the service write local times?',
  properties: {},
  async run(session, _, report) {
    const found = await session.ask<Access>('readOwnAccess');
    const { member } = found;
    report.say(
      `Application ${found.applicationId} ${data(found.applicationName, 80)} of the developer ${found.developerId} ${data(found.developerName, 80)}.`,
      member
        ? `The token is of the person ${data(member.name, 80)}, role ${member.role}, valid until ${time(member.expiresAt)}.`
        : 'The token is one of the application itself.',
      `It permits: ${found.scopes.join(', ')}.`,
      `Local times of the service are in ${session.zone}.`,
    );
  },
});

export const health = tool<object>({
  name: 'health',
  title: 'Is the service healthy, and what ends soon?',
  description:
    'Is everything healthy, and what ends, expires or stops soon? Counts devices that are online, waiting and failed commands, receivers that fail, consumers that lag, rollouts that run or are paused, binaries with warnings, and tokens that expire.',
  properties: {},
  async run(session, _, report) {
    const now = session.now();
    const fleet = await session.ask<SchemaTypes['rest/own-fleet']>('readFleet');
    const { endpoints } = await session.ask<SchemaTypes['rest/endpoint-list']>('listEndpoints');
    const paused = await session.ask<Rollouts>('listRollouts', { query: { state: 'paused', limit: 10 } });
    const running = await session.ask<Rollouts>('listRollouts', { query: { state: 'running', limit: 10 } });
    const given = await session.ask<SchemaTypes['rest/delivery-list']>('listDeliveries', {
      query: { status: 'exhausted', limit: 1 },
    });
    const { consumers } = await session.ask<SchemaTypes['rest/event-consumer-list']>('listConsumers');
    const binaries = await session.ask<SchemaTypes['common/binary-warning-list']>('listOwnBinaryWarnings', {
      query: { limit: 10 },
    });
    const { member } = await session.ask<Access>('readOwnAccess');
    const { devices, commands } = fleet;
    report.say(
      `${fleet.estimate ? 'About ' : ''}${devices.activated} activated devices, ${devices.connected} of them connected, at ${time(fleet.at)}.`,
      `Commands that wait: ${commands.waiting}; failed since ${time(commands.failedSince)}: ${commands.failed}.`,
      given.deliveries.length > 0 && `Webhooks were given up (exhausted): ${given.total ?? 'some'}.`,
    );
    const failing = endpoints.filter(({ failingSince, enabled }) => failingSince !== null || !enabled);
    report.say(failing.length === 0 && 'No endpoint fails.');
    for (const one of failing) {
      const end = one.enabled
        ? ', and is disabled after five days of failures'
        : `, disabled (${one.disabledReason ?? 'asked'})`;
      report.say(
        `Endpoint ${one.endpointId} to ${hostOf(one.url)} fails since ${time(one.failingSince, session.zone)}${end}.`,
      );
    }
    for (const { rolloutId, label, reason } of paused.rollouts) {
      report.say(`Rollout ${rolloutId} ${data(label, 60)} is paused: ${data(reason, 80)}.`);
    }
    for (const { rolloutId, label, counts, devices: all } of running.rollouts) {
      report.say(
        `Rollout ${rolloutId} ${data(label, 60)} runs: ${counts.succeeded} of ${all} devices succeeded, ${counts.failed} failed.`,
      );
    }
    report.say(paused.rollouts.length + running.rollouts.length === 0 && 'No rollout is at work.');
    for (const { name, state, lag } of consumers) {
      report.say(
        `Consumer ${data(name, 60)} is ${state}: ${lag.events} events behind, the oldest ${lag.seconds} s old.`,
      );
    }
    for (const { package: name, version, warning } of binaries.warnings.slice(0, 5)) {
      report.say(`The binary of ${data(`${name} ${version}`, 100)} has a warning: ${data(warning)}.`);
    }
    report.say(
      member
        ? `Your token (role ${member.role}) is valid until ${time(member.expiresAt)}${soon(member.expiresAt, now) ? ': renew it soon' : ''}.`
        : null,
      `Console: ${session.link()}`,
    );
  },
});
