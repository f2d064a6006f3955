export { bundledCatalogue, CATALOGUE_VERSION, CatalogueInvalid, catalogueOf } from "./Catalogue.ts"
