export { type Addresses, PacksUnusable, RuntimeUnusable, Stack } from "./Stack.ts"
export { readStackSettings, type StackSettings } from "./StackSettings.ts"
