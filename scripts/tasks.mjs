/**
 * The tasks of `npm run`: the command of each, for `scripts/run.mjs`, which installs what the task needs first. A
 * script of package.json has the name of its task.
 */
export const TASKS = {
  start: "node packages/stack/src/main.ts",
  test: "vitest run --config vitest.workspace.ts --project unit --project integration",
  bench: "node packages/bench/src/main.ts",
  runplane: "node packages/stack/src/runplane/main.ts",
  packs: "node packages/launcher/src/author/main.ts",
  "test:packages": "node scripts/test-packages.mjs",
  build: "node scripts/build.mjs",
  release: "node scripts/release.mjs",
  bundle: "node scripts/bundle.mjs",
  // A library of the generator calls what Node deprecates.
  site: "node --disable-warning=DEP0169 packages/site/scripts/build.mjs",
  check: "node scripts/check.mjs",
  fuzz: "vitest run --config vitest.workspace.ts packages/control-plane/test/contract/NoRequestBreaks packages/control-plane/test/features/ingest/NoExportBreaks packages/control-plane/test/features/mcp/NoCallBreaks packages/launcher/test/contract/NoRequestBreaks",
  generate: "node scripts/generate.mjs",
  "test:watch": "vitest watch --config vitest.workspace.ts --project unit",
  "test:faults": "vitest run --config vitest.workspace.ts --project faults --project faults-alone",
  "test:runtime": "node scripts/test-runtime.mjs",
  "test:openapi": "node scripts/test-openapi.mjs",
  "test:a2a": "node scripts/test-a2a.mjs",
  "test:clients": "node scripts/test-clients.mjs",
  "test:console": "node scripts/test-console.mjs",
  "test:site": "node scripts/test-site.mjs",
  "test:monitoring": "node scripts/test-monitoring.mjs",
  "test:deploy": "node scripts/rehearse-deploy.mjs",
  "test:docker": "node scripts/test-docker.mjs",
  "bench:reads": "node packages/bench/src/readsMain.ts",
  "bench:ingest": "node packages/bench/src/ingestMain.ts",
  "bench:alerts": "node packages/bench/src/alertsMain.ts",
  "bench:archive": "node packages/bench/src/archiveMain.ts",
  "bench:prices": "node packages/bench/src/pricesMain.ts",
  "bench:cells": "node packages/bench/src/cellsMain.ts",
  "check:types": "tsc --noEmit",
  "check:lint": "biome check --error-on-warnings .",
  "check:generated": "node scripts/generate.mjs --check",
  format: "biome check --write ."
}
