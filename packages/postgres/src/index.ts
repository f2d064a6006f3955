export { EmbeddedPostgres, type EmbeddedPostgresOptions, type EmbeddedPostgresProblem } from "./EmbeddedPostgres.ts"
export { createDatabase } from "./EmptyDatabase.ts"
export { PortUnavailable, probePort } from "./FreePort.ts"
export { temporaryFolder } from "./TemporaryFolder.ts"
