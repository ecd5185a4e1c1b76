"""The configuration of API Gateway (`openapi.yaml`), read and checked."""
