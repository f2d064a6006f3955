// The bench is run, not imported: `npm run bench`. Its parts are tested from within the package.
export { layerBench, runBench, scenariosOf } from "./Bench.ts"
export { BenchDatabase } from "./BenchDatabase.ts"
export type { Figure, Outcome, Summary } from "./Figures.ts"
export { fullPlan, type Plan } from "./Plan.ts"
