// Starts the packaged UI on /docs. Everything is asked of the place that this page came from, by whatever address.
const here = new URL('.', location.href).href.replace(/\/$/, '');

for (const place of document.querySelectorAll('[data-base]')) place.textContent = here;

const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

async function start() {
  const answer = await fetch('openapi.json');
  const spec = await answer.json();
  spec.servers = [{ url: here, description: 'This service' }];
  spec.components.securitySchemes.applicationToken.flows.clientCredentials.tokenUrl = `${here}/api/v1/authenticate`;
  // The page has said it already, above.
  spec.info.title = '';
  document.getElementById('reference').replaceChildren();
  const ui = globalThis.SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelRendering: 'example',
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    // By default a badge of another host.
    validatorUrl: null,
    layout: 'BaseLayout',
    onComplete: () => document.documentElement.setAttribute('data-ready', ''),
  });
  ui.initOAuth({ scopes: ['svc:application:read'] });
}

void start();
