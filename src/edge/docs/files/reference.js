// Starts the packaged UI on /docs. Everything is asked of the place that this page came from, by whatever address.
const here = new URL('.', location.href).href.replace(/\/$/, '');

for (const place of document.querySelectorAll('[data-base]')) place.textContent = here;

const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

/** The UI shows the parameters of a path nameless in an operation that an address opened, so each operation gets its own. */
function ownParameters({ paths, components }) {
  const found = (parameter) => (parameter.$ref ? components.parameters[parameter.$ref.split('/').at(-1)] : parameter);
  const typed = (schema) => (schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema);
  for (const item of Object.values(paths)) {
    const { parameters: shared = [], ...operations } = item;
    delete item.parameters;
    for (const operation of Object.values(operations)) {
      const parameters = [...shared, ...(operation.parameters ?? [])].map(found);
      operation.parameters = parameters.map((parameter) => ({ ...parameter, schema: typed(parameter.schema) }));
    }
  }
}

async function start() {
  const answer = await fetch('openapi.json');
  const spec = await answer.json();
  spec.servers = [{ url: here, description: 'This service' }];
  spec.components.securitySchemes.applicationToken.flows.clientCredentials.tokenUrl = `${here}/api/v1/authenticate`;
  // One way to authorize: for the other, which only the token endpoint has, the browser asks by itself.
  delete spec.components.securitySchemes.applicationSecret;
  spec.paths['/api/v1/authenticate'].post.security = [];
  ownParameters(spec);
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
  ui.initOAuth({ scopes: ['svc:application:read', 'svc:device:read'] });
}

void start();
