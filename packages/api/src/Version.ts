/** The version of Runplane: of its packages, its documents, its programs. A test holds the manifests to it. */
export const RUNPLANE_VERSION = "0.1.0"
