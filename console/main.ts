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

/** Milliseconds until a service that is away is asked again. */
const RETRY = 1_000;

function Console(): Child {
  if (session.value === null) return signIn();
  if (session.value === undefined) return skeleton(8);
  return layout(pageOf());
}

async function start(): Promise<void> {
  const place = document.querySelector('#console');
  if (!place) throw new Error('the page has no place for the console');
  followLinks();
  startClock();
  startFeed();
  render(use(Console, {}), place);
  while (!(await resume())) await new Promise((resolve) => setTimeout(resolve, RETRY));
}

await start();
