import { stillAnswers } from '../asking.ts';
import { Breach } from '../breach.ts';
import { connected, type Stage } from '../stage.ts';
import type { Case } from './case.ts';

const TOPICS = ['commands', 'responses', 'errors'];

async function login(stage: Stage): Promise<string> {
  const { service, settings } = stage;
  const missing = (): string[] => TOPICS.filter((topic) => !service.subscriptions.has(topic));
  await service.until(() => missing().length === 0, settings.answerMs);
  if (missing().length > 0)
    throw new Breach('topics', `subscriptions to ${TOPICS.join(', ')}`, `none to ${missing().join(', ')}`, {
      isTimed: true,
    });
  await stillAnswers(stage, 'answers');
  return `keep-alive ${service.connect?.keepalive ?? 0} s`;
}

/** The next login finds its session present; only the device can know that it has not subscribed. */
async function nextLogin(stage: Stage): Promise<undefined> {
  const { service, settings } = stage;
  const { logins, subscribes } = service;
  service.cut();
  await service.until(() => service.logins > logins && service.isOnline, settings.waitMs);
  await connected(stage);
  const heard = await service.until(() => service.subscribes > subscribes, settings.answerMs);
  if (!heard) throw new Breach('subscriptions', 'a SUBSCRIBE after each CONNACK', 'none', { isTimed: true });
  await stillAnswers(stage, 'answers');
}

export const loginCases: Readonly<Record<string, Case>> = {
  login: {
    about: 'the device connects with its deviceId and credential, and subscribes to its three topics',
    rules: ['login', 'topics', 'keep-alive', 'mqtt'],
    when: 'first',
    play: login,
  },
  'next-login': {
    about: 'the connection is cut; the device connects again, finds its session present, and subscribes nevertheless',
    rules: ['subscriptions', 'reconnect-pauses'],
    play: nextLogin,
  },
};
