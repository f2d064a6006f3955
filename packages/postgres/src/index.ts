export {
  DATABASE_NAME,
  EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  type EmbeddedPostgresProblem
} from "./EmbeddedPostgres.ts"
export { PortUnavailable, probePort } from "./FreePort.ts"
export { copyDatabase, createDatabase, type DatabaseTemplate } from "./NewDatabase.ts"
export type { PostgresStartFailed } from "./PostgresServer.ts"
export { hasCluster, runningServerUrl } from "./RunningCluster.ts"
export { temporaryFolder } from "./TemporaryFolder.ts"
