export {
  applyFile,
  applyMigrations,
  holdMigrations,
  type OwnSchema,
  prepareTable,
  rowsOfTable,
  schemaOfTable
} from "./ApplyMigrations.ts"
export { type DatabaseClientOptions, makeDatabaseClient } from "./DatabaseClient.ts"
export { readDatabaseTls } from "./DatabaseTls.ts"
export {
  hashOf,
  type MigrationFile,
  readMigrationFiles,
  type Statement,
  statementsOf
} from "./MigrationFiles.ts"
export { DatabaseUnavailable, type OpenDatabaseOptions, openDatabase } from "./OpenDatabase.ts"
export {
  isInside,
  makePipelinedTransactions,
  type PipelinedTransaction,
  PipelinedTransactions,
  type PipelinedTransactionsShape
} from "./PipelinedTransactions.ts"
export { type PoolCounts, PoolUse, poolCounts, streamReadsAt } from "./PoolUse.ts"
export {
  type Applied,
  earlierSchema,
  MigrationFailed,
  noSchema,
  notWritable,
  olderSchema,
  processesAlive,
  refusalOf,
  SchemaRefused,
  unrecordedSchema
} from "./SchemaState.ts"
export {
  makeServerPool,
  type ServerPool,
  type ServerPoolOptions,
  type SessionSettings,
  setUpSession
} from "./ServerPool.ts"
export { makeServers, type Servers } from "./Servers.ts"
export {
  describeSqlError,
  isBadArgument,
  isConnectFailure,
  isContention,
  isOutage,
  isReadOnlyServer,
  isTimeout,
  isTooManyConnections,
  PoolExhausted,
  ReadOnlyServer,
  TransactionAborted
} from "./SqlFailures.ts"
