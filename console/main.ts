import { render } from 'preact';
import { startClock } from './base/clock.ts';
import { type Child, div, use } from './base/elements.ts';
import { startFeed } from './base/feed.ts';
import { followLinks } from './base/place.ts';
import { followSession, owner, resume, session } from './base/session.ts';
import { followZone } from './base/zone-choice.ts';
import { pageOf } from './pages/pages.ts';
import { signIn, signInAgain } from './pages/sign-in.ts';
import { layout } from './parts/layout.ts';
import { skeleton } from './parts/show.ts';

/** Milliseconds between two tries to reach the service. */
const RETRY = 1_000;

function Console(): Child {
  const { value: user } = owner;
  if (session.value === undefined) return skeleton(8);
  if (user === null) return signIn();
  return div({ key: user }, layout(pageOf()), session.value === null ? signInAgain() : null);
}

async function start(): Promise<void> {
  const root = document.querySelector('#console');
  if (!root) throw new Error('the page has no element for the console');
  followLinks();
  followZone();
  followSession();
  startClock();
  startFeed();
  render(use(Console, {}), root);
  while (!(await resume())) await new Promise((resolve) => setTimeout(resolve, RETRY));
}

await start();
