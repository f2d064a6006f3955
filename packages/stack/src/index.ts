export { EmbeddedPostgres, type EmbeddedPostgresOptions, type EmbeddedPostgresProblem } from "./EmbeddedPostgres.ts"
export { type Addresses, PacksUnusable, RuntimeUnusable, Stack } from "./Stack.ts"
export { readStackSettings, StackSettingRefused, type StackSettings } from "./StackSettings.ts"
