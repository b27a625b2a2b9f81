import { render } from 'preact';
import { startClock } from './base/clock.ts';
import { type Child, use } from './base/elements.ts';
import { startFeed } from './base/feed.ts';
import { followLinks } from './base/place.ts';
import { resume, session } from './base/session.ts';
import { pageOf } from './pages/pages.ts';
import { signIn } from './pages/sign-in.ts';
import { layout } from './parts/layout.ts';
import { skeleton } from './parts/show.ts';

/** Milliseconds between two tries to reach the service. */
const RETRY = 1_000;

function Console(): Child {
  if (session.value === null) return signIn();
  if (session.value === undefined) return skeleton(8);
  return layout(pageOf());
}

async function start(): Promise<void> {
  const root = document.querySelector('#console');
  if (!root) throw new Error('the page has no element for the console');
  followLinks();
  startClock();
  startFeed();
  render(use(Console, {}), root);
  while (!(await resume())) await new Promise((resolve) => setTimeout(resolve, RETRY));
}

await start();
