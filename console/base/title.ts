import { effect, signal } from '@preact/signals';

/** The name of the page, and the number of alarms, which also a tab in the background shows. */
export const pageName = signal('');
export const alarmCount = signal(0);

effect(() => {
  if (pageName.value === '') return;
  document.title = `${alarmCount.value > 0 ? `(${alarmCount.value}) ` : ''}${pageName.value} · Lapel`;
});
