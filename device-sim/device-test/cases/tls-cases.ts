import { stillAnswers } from '../asking.ts';
import { Breach, LeftOut } from '../breach.ts';
import { usesTls } from '../entrance.ts';
import { connected, type Stage, seconds } from '../stage.ts';
import type { Case } from './case.ts';

async function strangersCertificate(stage: Stage): Promise<string> {
  const { service, settings } = stage;
  if (!usesTls(settings.transport)) throw new LeftOut('needs --transport mqtts or wss');
  const stranger = service.door.offerStranger();
  try {
    service.cut();
    await service.until(() => stranger.logins > 0 || stranger.ended > 0, settings.waitMs);
  } finally {
    stranger.leave();
  }
  if (stranger.logins > 0)
    throw new Breach('server-certificate', 'no CONNECT to a service with a certificate of another CA', 'a CONNECT');
  if (stranger.ended === 0)
    throw new Breach('reconnect-pauses', `a connection within ${seconds(settings.waitMs)}`, 'none', { isTimed: true });
  await connected(stage);
  await stillAnswers(stage, 'answers');
  return 'no login there';
}

export const tlsCases: Readonly<Record<string, Case>> = {
  'strangers-certificate': {
    about:
      'the connection is cut; the next one, over TLS, gets a certificate of a CA that the device does not know, once',
    rules: ['server-certificate'],
    play: strangersCertificate,
  },
};
