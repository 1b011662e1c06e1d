/**
 * What containers are started by: Kubernetes' manifests held to Kubernetes' types, the rest to what the service and the
 * images are.
 */
import { expect } from 'chai';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../src/package-root.js';
import { NOTICE_MS } from '../../src/http/monitoring/agent-check.js';
import { VARIABLES } from '../../src/service/variables.js';
import { TestServer } from '../support/server.js';

const PACKAGING = join(packageRoot, 'packaging');
const IMAGES = ['Containerfile', 'Containerfile.cuda', 'Containerfile.vulkan'];
/** Of CMake, which the package's build sets. */
const BUILD = ['VERBATIM_CUDA', 'VERBATIM_VULKAN', 'VERBATIM_ONEDNN', 'VERBATIM_SANITIZE'];
/** A minute of draining. */
const DRAIN_SECONDS = 60;

const TYPES: Readonly<Record<string, string>> = {
  ...{ Service: 'core/v1', PersistentVolumeClaim: 'core/v1', StatefulSet: 'apps/v1', Deployment: 'apps/v1' },
};

interface Manifest {
  kind: string;
  metadata: { name: string };
}

interface Service extends Manifest {
  spec: { clusterIP?: string; publishNotReadyAddresses?: boolean; selector: object };
}

interface Workload extends Manifest {
  spec: { template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
}

interface Probe {
  httpGet: { path: string; port: string };
}

interface StatefulSet extends Manifest {
  spec: {
    replicas: number;
    serviceName: string;
    selector: { matchLabels: object };
    template: {
      metadata: { labels: object };
      spec: {
        enableServiceLinks: boolean;
        terminationGracePeriodSeconds: number;
        securityContext: { runAsUser: number };
        containers: {
          env: { name: string; value?: string }[];
          ports: { name: string; containerPort: number }[];
          volumeMounts: { name: string; mountPath: string }[];
          startupProbe: Probe;
          livenessProbe: Probe;
          readinessProbe: Probe;
          lifecycle?: { preStop: { exec: { command: [string, string] } } };
        }[];
      };
    };
  };
}

interface ComposeService {
  build: { context: string; dockerfile: string };
  volumes: string[];
  ports: string[];
  stop_grace_period: string;
  environment: Record<string, string | number>;
}

interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

function documents(file: string): unknown[] {
  return parseAllDocuments(readFileSync(join(PACKAGING, file), 'utf8'), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('; ')}`);
    return document.toJS() as unknown;
  });
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

const image = (name: string): string => readFileSync(join(PACKAGING, 'container', name), 'utf8');

const SHIPPED = join(PACKAGING, 'haproxy', 'haproxy.cfg');
/** The variables of its environment that may name other nodes. */
const BALANCED = [...new Set([...readFileSync(SHIPPED, 'utf8').matchAll(/\$\{(\w+)-/g)].map(([, name]) => name!))];

for (const file of ['kubernetes/verbatim.yaml', 'kubernetes/nodes.yaml'])
  describe(`packaging/${file}`, () => {
    const manifests = documents(file) as Manifest[];
    const set = manifests.find(({ kind }) => kind === 'StatefulSet') as StatefulSet;
    const pod = set.spec.template.spec;
    const [container] = pod.containers;

    /** What the compiler has to say of them as values of Kubernetes' own types. */
    function complaints(values: readonly Manifest[]): string[] {
      const directory = mkdtempSync(join(packageRoot, 'build', 'manifests-'));
      try {
        const file = join(directory, 'manifests.ts');
        const lines = values.map((value, index) => {
          const type = `import('kubernetes-types/${TYPES[value.kind] ?? value.kind}').${value.kind}`;
          return `export const manifest${index}: ${type} = ${JSON.stringify(value)};`;
        });
        writeFileSync(file, lines.join('\n'));
        const program = ts.createProgram([file], {
          ...{ strict: true, noEmit: true, types: [], module: ts.ModuleKind.Node16 },
          moduleResolution: ts.ModuleResolutionKind.Node16,
        });
        return ts
          .getPreEmitDiagnostics(program)
          .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
      } finally {
        rmSync(directory, { recursive: true });
      }
    }

    it('have the fields that Kubernetes knows, and no others', () => {
      expect(complaints(manifests)).to.deep.equal([]);
      const wrong = structuredClone(set);
      Object.assign(wrong.spec.template.spec, { enableServiceLink: false });
      expect(complaints([wrong]).join()).to.include('enableServiceLink');
    });

    it('keep the variables of a Service called verbatim out of the pod', () => {
      expect(pod.enableServiceLinks).to.equal(false);
    });

    it('ask for what the service answers, on the port that it has', async () => {
      const server = await TestServer.start();
      try {
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
          const { path, port } = container![probe].httpGet;
          expect((await fetch(server.url + path)).status, path).to.equal(200);
          expect(container!.ports.map(({ name }) => name)).to.include(port);
        }
      } finally {
        await server.dispose();
      }
      expect(container!.livenessProbe.httpGet.path).to.equal('/healthz');
      expect(container!.readinessProbe.httpGet.path).to.equal('/readyz');
      expect(image('Containerfile')).to.include(`EXPOSE ${container!.ports[0]!.containerPort}\n`);
    });

    it('leave it the time to drain, and run it as the image does', () => {
      // A node with an agent port has its own.
      const [program, seconds] = container!.lifecycle?.preStop.exec.command ?? ['sleep', NOTICE_MS / 1000];
      expect(program).to.equal('sleep');
      expect(container!.ports.map(({ name }) => name).includes('agent')).to.equal(!container!.lifecycle);
      expect(pod.terminationGracePeriodSeconds).to.be.above(DRAIN_SECONDS + Number(seconds));
      for (const name of IMAGES) {
        expect(image(name)).to.include(`\nUSER ${pod.securityContext.runAsUser}:`);
        expect(image(name)).to.include(`\nVOLUME ${container!.volumeMounts[0]!.mountPath}\n`);
      }
      expect(set.spec.template.metadata.labels).to.deep.equal(set.spec.selector.matchLabels);
    });
  });

describe('nodes behind a balancer', () => {
  const agentPort = Number(/agent-port (\d+)/.exec(readFileSync(SHIPPED, 'utf8'))?.[1]);

  it('are the ones that HAProxy is given in Kubernetes, by names that they have', () => {
    const manifests = documents('kubernetes/nodes.yaml') as Manifest[];
    const of = (sort: string): Manifest => manifests.find(({ kind }) => kind === sort)!;
    const set = of('StatefulSet') as StatefulSet;
    const { name } = set.metadata;
    const balancer = (of('Deployment') as Workload).spec.template.spec.containers[0]!;
    const named = balancer.env.filter(({ name: variable }) => BALANCED.includes(variable));
    expect(named.map(({ name: variable }) => variable)).to.deep.equal(BALANCED);
    expect(named.map(({ value }) => value)).to.deep.equal(
      BALANCED.map((_, index) => `${name}-${index}.${set.spec.serviceName}.$(NAMESPACE).svc.cluster.local`),
    );
    expect(balancer.env.find(({ name: variable }) => variable === 'NODES_BY_DNS')?.value).to.equal('1');
    expect(set.spec.replicas).to.equal(BALANCED.length);
    const headless = manifests.find(({ metadata }) => metadata.name === set.spec.serviceName) as Service;
    expect(headless.spec).to.include({ clusterIP: 'None', publishNotReadyAddresses: true });
    expect(headless.spec.selector).to.deep.equal(set.spec.selector.matchLabels);
    const node = set.spec.template.spec.containers[0]!;
    const agent = node.env.find(({ name: variable }) => variable === 'VERBATIM_AGENT_PORT')?.value;
    expect(node.ports.find(({ name: port }) => port === 'agent')?.containerPort).to.equal(agentPort);
    expect(Number(agent)).to.equal(agentPort);
  });

  it('are the ones that HAProxy is given where they are composed', () => {
    const [{ services, volumes }] = documents('container/compose-nodes.yaml') as [Compose];
    const { balancer, database, node1, node2 } = services;
    const { NODES_BY_DNS: byDns, ...named } = balancer!.environment;
    expect(byDns).to.equal(1);
    expect(Object.keys(named)).to.deep.equal(BALANCED);
    expect(Object.values(named)).to.deep.equal(['node1', 'node2']);
    const [mounted = ''] = balancer!.volumes[0]!.split(':');
    expect(join(PACKAGING, 'container', mounted)).to.equal(SHIPPED);
    expect(volumes).to.have.all.keys([...node1!.volumes, ...database!.volumes].map((volume) => volume.split(':')[0]!));
    for (const node of [node1!, node2!]) {
      expect(node.volumes).to.deep.equal(node1!.volumes);
      expect(node.environment).to.include({ VERBATIM_AGENT_PORT: agentPort });
      expect(node.environment['VERBATIM_DATABASE']).to.match(/^postgres:\/\/verbatim:.*@database\/verbatim$/);
      expect(parseInt(node.stop_grace_period)).to.be.above(DRAIN_SECONDS + NOTICE_MS / 1000);
    }
  });
});

describe('containers', () => {
  it('are built of files that are there', () => {
    for (const name of IMAGES) {
      const copied = [...image(name).matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, paths = '']) =>
        paths.split(' '),
      );
      expect(copied).to.include('native').and.have.length.above(10);
      expect(copied.filter((path) => !existsSync(join(packageRoot, path)))).to.deep.equal([]);
    }
  });

  it('are the same for graphics cards but for what those take', () => {
    const runs = (name: string): string[] =>
      image(name)
        .split('\n')
        .filter((line) => /^(COPY|USER|WORKDIR|VOLUME|EXPOSE|STOPSIGNAL|ENTRYPOINT|CMD| {2}CMD)/.test(line));
    expect(runs('Containerfile.cuda')).to.deep.equal(runs('Containerfile'));
    expect(runs('Containerfile.vulkan')).to.deep.equal(runs('Containerfile'));
  });

  it('are composed with volumes and files that are there, and the time to drain', () => {
    const [compose] = documents('container/compose.yaml') as [Compose];
    const service = compose.services['verbatim']!;
    const context = join(PACKAGING, 'container', service.build.context);
    expect(relative(packageRoot, context)).to.equal('');
    expect(existsSync(join(context, service.build.dockerfile))).to.equal(true);
    const [volume = '', mounted] = service.volumes[0]!.split(':');
    expect(compose.volumes).to.have.property(volume);
    expect(image('Containerfile')).to.include(`\nVOLUME ${mounted}\n`);
    expect(service.ports[0]).to.match(/^127\.0\.0\.1:8080:8080$/);
    expect(parseInt(service.stop_grace_period)).to.be.above(DRAIN_SECONDS);
  });
});

describe('packaging/', () => {
  it('names no variable that the service does not know', () => {
    const known: readonly string[] = [...VARIABLES, ...BUILD];
    const named = filesUnder(PACKAGING).flatMap((path) =>
      (readFileSync(path, 'utf8').match(/\bVERBATIM_[A-Z_]*[A-Z]/g) ?? []).map((name) => ({
        name,
        file: relative(packageRoot, path),
      })),
    );
    expect(named).to.have.length.above(10);
    expect(named.filter(({ name }) => !known.includes(name))).to.deep.equal([]);
  });
});
