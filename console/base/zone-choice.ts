import { type Zone, zone } from './zone.ts';

const NAME = 'lapel-zone';

/** Reads the choice of this browser. A browser may forbid its storage, which then throws. */
function stored(): Zone {
  try {
    return localStorage.getItem(NAME) === 'utc' ? 'utc' : 'local';
  } catch {
    return 'local';
  }
}

/** Chooses the zone for all windows of this browser, now and later. Nothing is stored for the first choice. */
export function chooseZone(next: Zone): void {
  zone.value = next;
  try {
    if (next === 'local') localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, next);
  } catch {
    // The choice holds until the window is closed.
  }
}

/** Takes the choice of this browser, and follows it in all its windows. */
export function followZone(): void {
  zone.value = stored();
  addEventListener('storage', ({ key }) => {
    if (key === NAME || key === null) zone.value = stored();
  });
}
