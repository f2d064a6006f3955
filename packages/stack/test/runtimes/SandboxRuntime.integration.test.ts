import { runtimeSuite } from "./RuntimeSuite.ts"
import { layerSandboxDevelopment, layerSandboxSigned } from "./SandboxUnderTest.ts"

runtimeSuite("the sandbox under development authentication", layerSandboxDevelopment)
runtimeSuite("the sandbox with signed tokens", layerSandboxSigned)
