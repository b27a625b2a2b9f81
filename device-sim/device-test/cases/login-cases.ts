import { stillAnswers } from '../asking.ts';
import { Breach } from '../breach.ts';
import type { Stage } from '../stage.ts';
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

export const loginCases: Readonly<Record<string, Case>> = {
  login: {
    about: 'the device connects with its deviceId and credential, and subscribes to its three topics',
    rules: ['login', 'topics', 'keep-alive', 'mqtt'],
    when: 'first',
    play: login,
  },
};
