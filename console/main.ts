import { h, render } from 'preact';

const place = document.querySelector('#console');
if (place) render(h('main', null, h('h1', null, 'Lapel')), place);
